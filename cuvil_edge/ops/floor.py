"""Floor: the largest integer that is not larger."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Floor(Elementwise):
    """The largest integer that is not larger than ``a``."""

    scalar = "floor(a)"
    dtypes = FLOATS
