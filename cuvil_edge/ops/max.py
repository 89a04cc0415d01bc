"""Max: the larger of two."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Max(Elementwise):
    """The larger element; NaN if one is NaN."""

    scalar = "max(a, b)"
    dtypes = NUMBERS
    shape_arithmetic = True
