"""Tan: tangent."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Tan(Elementwise):
    """The tangent (radians)."""

    scalar = "tan(a)"
    dtypes = FLOATS
