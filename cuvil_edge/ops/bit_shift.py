"""BitShift: shifted bits of unsigned integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import UNSIGNED, Elementwise


@dataclass(frozen=True)
class BitShift(Elementwise):
    """``a`` shifted by ``b`` bits to the ``left`` or ``right``; by the width or more gives 0."""

    scalar = "shift_left(a, b)"
    dtypes = UNSIGNED

    direction: str = "left"

    def text(self) -> str:
        """The expression for the direction."""
        return self.scalar if self.direction == "left" else "shift_right(a, b)"

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """Both directions."""
        return [cls(), cls("right")]

    @classmethod
    def sample_array(cls, random: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """Values that are also possible as bit counts."""
        return random.integers(0, 8 * dtype.item_bytes, shape).astype(dtype.numpy)
