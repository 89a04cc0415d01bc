"""Round: to the nearest integer, halves to even."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Round(Elementwise):
    """The nearest integer; halves go to the even one."""

    scalar = "round(a)"
    dtypes = FLOATS

    @classmethod
    def sample_array(cls, random: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """Many halves."""
        return (random.integers(-9, 9, shape) / 2).astype(dtype.numpy)
