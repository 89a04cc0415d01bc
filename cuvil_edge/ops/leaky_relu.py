"""LeakyRelu: a slope for negative elements."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class LeakyRelu(Elementwise):
    """``a`` where it is not negative, else ``alpha * a``."""

    scalar = "select(a >= 0, a, alpha * a)"
    dtypes = FLOATS

    alpha: float = 0.01

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """The default slope and a steep one."""
        return [cls(), cls(1.5)]
