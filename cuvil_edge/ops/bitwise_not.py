"""BitwiseNot: every bit inverted."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import INTEGERS, Elementwise


@dataclass(frozen=True)
class BitwiseNot(Elementwise):
    """Every bit of ``a`` inverted."""

    scalar = "bit_not(a)"
    dtypes = INTEGERS
