"""Sin: sine."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Sin(Elementwise):
    """The sine (radians)."""

    scalar = "sin(a)"
    dtypes = FLOATS
