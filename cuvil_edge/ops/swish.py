"""Swish: x * sigmoid(alpha * x)."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Swish(Elementwise):
    """``a * sigmoid(alpha * a)``; SiLU for ``alpha`` 1."""

    scalar = "a * sigmoid(alpha * a)"
    dtypes = FLOATS

    alpha: float = 1.0

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """The default and the slope of quick GELU."""
        return [cls(), cls(1.702)]
