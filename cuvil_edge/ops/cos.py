"""Cos: cosine."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Cos(Elementwise):
    """The cosine (radians)."""

    scalar = "cos(a)"
    dtypes = FLOATS
