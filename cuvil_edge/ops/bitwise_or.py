"""BitwiseOr: or of every bit."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import INTEGERS, Elementwise


@dataclass(frozen=True)
class BitwiseOr(Elementwise):
    """The or of every bit of the operands."""

    scalar = "bit_or(a, b)"
    dtypes = INTEGERS
