"""Neg: negation."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, SIGNED, Elementwise


@dataclass(frozen=True)
class Neg(Elementwise):
    """``-a``; integers wrap."""

    scalar = "-a"
    dtypes = (*FLOATS, *SIGNED)
    shape_arithmetic = True
