"""Tanh: hyperbolic tangent."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Tanh(Elementwise):
    """The hyperbolic tangent."""

    scalar = "tanh(a)"
    dtypes = FLOATS
