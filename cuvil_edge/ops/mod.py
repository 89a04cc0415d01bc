"""Mod: element-wise remainder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Mod(Elementwise):
    """The remainder of ``a / b``: with the sign of ``b``, or (``fmod``) with that of ``a``."""

    scalar = "mod(a, b)"
    dtypes = NUMBERS
    shape_arithmetic = True

    fmod: bool = False

    def text(self) -> str:
        """The expression for the chosen sign."""
        return "fmod(a, b)" if self.fmod else self.scalar

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """Both signs."""
        return [cls(), cls(True)]

    @classmethod
    def sample_array(cls, random: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """No zeros, which integers cannot be divided by."""
        array = super().sample_array(random, shape, dtype)
        return np.where(array == 0, np.asarray(3, dtype.numpy), array)
