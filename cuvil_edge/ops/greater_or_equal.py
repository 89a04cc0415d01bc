"""GreaterOrEqual: comparison."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class GreaterOrEqual(Elementwise):
    """True where ``a`` is at least ``b``."""

    scalar = "a >= b"
    dtypes = NUMBERS
    shape_arithmetic = True
