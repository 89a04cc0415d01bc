"""IsNaN: whether an element is not a number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class IsNan(Elementwise):
    """True for NaN."""

    scalar = "isnan(a)"
    dtypes = FLOATS

    @classmethod
    def sample_array(cls, random: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """NaN, infinities and numbers."""
        return random.choice(np.array([np.nan, np.inf, -np.inf, 0, 1.5, -2], dtype.numpy), shape)
