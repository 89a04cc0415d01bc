"""Cosh: hyperbolic cosine."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Cosh(Elementwise):
    """The hyperbolic cosine."""

    scalar = "cosh(a)"
    dtypes = FLOATS
