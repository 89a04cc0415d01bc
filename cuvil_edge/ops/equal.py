"""Equal: comparison."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import Elementwise


@dataclass(frozen=True)
class Equal(Elementwise):
    """True where ``a`` equals ``b``; NaN equals nothing."""

    scalar = "a == b"
    shape_arithmetic = True
