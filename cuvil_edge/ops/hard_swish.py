"""HardSwish: x times a clamped line."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class HardSwish(Elementwise):
    """``a * max(0, min(1, a / 6 + 1 / 2))``."""

    scalar = "a * max(0, min(1, a / 6 + 0.5))"
    dtypes = FLOATS
