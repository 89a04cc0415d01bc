"""Reciprocal: 1 / x."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Reciprocal(Elementwise):
    """``1 / a``."""

    scalar = "1 / a"
    dtypes = FLOATS
