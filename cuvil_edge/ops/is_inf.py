"""IsInf: whether an element is infinite."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class IsInf(Elementwise):
    """True for infinities of the signs that are asked for."""

    scalar = "isinf(a)"
    dtypes = FLOATS

    detect_negative: bool = True
    detect_positive: bool = True

    def text(self) -> str:
        """The expression for the chosen signs."""
        if self.detect_negative and self.detect_positive:
            return self.scalar
        if self.detect_negative or self.detect_positive:
            return "and_(isinf(a), a < 0)" if self.detect_negative else "and_(isinf(a), a > 0)"
        return "a < a"

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """Both, one or no sign."""
        return [cls(), cls(False), cls(True, False), cls(False, False)]

    @classmethod
    def sample_array(cls, random: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """NaN, infinities and numbers."""
        return random.choice(np.array([np.nan, np.inf, -np.inf, 0, 1.5, -2], dtype.numpy), shape)
