"""Abs: magnitude."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Abs(Elementwise):
    """``|a|``; the most negative integer stays itself."""

    scalar = "abs(a)"
    dtypes = NUMBERS
    shape_arithmetic = True
