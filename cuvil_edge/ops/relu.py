"""Relu: max(x, 0)."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, SIGNED, Elementwise


@dataclass(frozen=True)
class Relu(Elementwise):
    """``max(x, 0)``."""

    scalar = "max(a, 0)"
    dtypes = (*FLOATS, *SIGNED)
