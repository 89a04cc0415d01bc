"""LessOrEqual: comparison."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class LessOrEqual(Elementwise):
    """True where ``a`` is at most ``b``."""

    scalar = "a <= b"
    dtypes = NUMBERS
    shape_arithmetic = True
