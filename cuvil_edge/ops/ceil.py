"""Ceil: the smallest integer that is not smaller."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Ceil(Elementwise):
    """The smallest integer that is not smaller than ``a``."""

    scalar = "ceil(a)"
    dtypes = FLOATS
