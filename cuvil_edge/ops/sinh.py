"""Sinh: hyperbolic sine."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Sinh(Elementwise):
    """The hyperbolic sine."""

    scalar = "sinh(a)"
    dtypes = FLOATS
