"""Shrink: elements near zero become zero, others move toward it."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Shrink(Elementwise):
    """``a + bias`` below ``-lambd``, ``a - bias`` above ``lambd``, else 0."""

    scalar = "select(a < -lambd, a + bias, select(a > lambd, a - bias, 0))"
    dtypes = FLOATS

    bias: float = 0.0
    lambd: float = 0.5

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """Hard and soft shrinking."""
        return [cls(), cls(1.5, 1.5)]
