"""Elu: exponential linear unit."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Elu(Elementwise):
    """``a`` where it is not negative, else ``alpha * (e ** a - 1)``."""

    scalar = "select(a >= 0, a, alpha * expm1(a))"
    dtypes = FLOATS

    alpha: float = 1.0

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """The default and another scale."""
        return [cls(), cls(0.3)]
