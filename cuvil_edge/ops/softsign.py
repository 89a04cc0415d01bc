"""Softsign: x / (1 + |x|)."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Softsign(Elementwise):
    """``a / (1 + |a|)``."""

    scalar = "a / (1 + abs(a))"
    dtypes = FLOATS
