"""Atanh: inverse hyperbolic tangent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Atanh(Elementwise):
    """The inverse hyperbolic tangent of elements in (-1, 1); NaN elsewhere."""

    scalar = "atanh(a)"
    dtypes = FLOATS

    @classmethod
    def sample_array(cls, random: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """Mostly inside the domain."""
        return random.uniform(-1.1, 1.1, shape).astype(dtype.numpy)
