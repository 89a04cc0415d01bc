"""Sqrt: square root."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Sqrt(Elementwise):
    """The square root; NaN for negative elements."""

    scalar = "sqrt(a)"
    dtypes = FLOATS
