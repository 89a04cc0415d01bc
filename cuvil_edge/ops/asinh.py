"""Asinh: inverse hyperbolic sine."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Asinh(Elementwise):
    """The inverse hyperbolic sine."""

    scalar = "asinh(a)"
    dtypes = FLOATS
