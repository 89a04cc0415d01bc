"""Exp: natural exponential."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Exp(Elementwise):
    """``e ** a``."""

    scalar = "exp(a)"
    dtypes = FLOATS
