"""BitwiseXor: xor of every bit."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import INTEGERS, Elementwise


@dataclass(frozen=True)
class BitwiseXor(Elementwise):
    """The xor of every bit of the operands."""

    scalar = "bit_xor(a, b)"
    dtypes = INTEGERS
