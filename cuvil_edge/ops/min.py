"""Min: the smaller of two."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Min(Elementwise):
    """The smaller element; NaN if one is NaN."""

    scalar = "min(a, b)"
    dtypes = NUMBERS
    shape_arithmetic = True
