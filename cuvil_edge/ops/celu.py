"""Celu: continuously differentiable exponential linear unit."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Celu(Elementwise):
    """``max(a, 0) + min(0, alpha * (e ** (a / alpha) - 1))``."""

    scalar = "max(a, 0) + min(0, alpha * expm1(a / alpha))"
    dtypes = FLOATS

    alpha: float = 1.0

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """The default and another scale."""
        return [cls(), cls(2.0)]
