"""Acosh: inverse hyperbolic cosine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Acosh(Elementwise):
    """The inverse hyperbolic cosine of elements of at least 1; NaN elsewhere."""

    scalar = "acosh(a)"
    dtypes = FLOATS

    @classmethod
    def sample_array(cls, random: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """Mostly inside the domain."""
        return random.uniform(0.9, 9, shape).astype(dtype.numpy)
