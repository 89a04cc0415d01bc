"""Div: element-wise quotient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Div(Elementwise):
    """``a / b`` with broadcasting; integers truncate toward zero."""

    scalar = "a / b"
    dtypes = NUMBERS
    shape_arithmetic = True

    @classmethod
    def sample_array(cls, random: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """No zeros, which integers cannot be divided by."""
        array = super().sample_array(random, shape, dtype)
        return np.where(array == 0, np.asarray(3, dtype.numpy), array)
