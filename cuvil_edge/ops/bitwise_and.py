"""BitwiseAnd: and of every bit."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import INTEGERS, Elementwise


@dataclass(frozen=True)
class BitwiseAnd(Elementwise):
    """The and of every bit of the operands."""

    scalar = "bit_and(a, b)"
    dtypes = INTEGERS
