"""Atan: inverse tangent."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Atan(Elementwise):
    """The inverse tangent."""

    scalar = "atan(a)"
    dtypes = FLOATS
