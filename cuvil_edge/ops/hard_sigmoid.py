"""HardSigmoid: a line clamped to [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class HardSigmoid(Elementwise):
    """``max(0, min(1, alpha * a + beta))``."""

    scalar = "max(0, min(1, alpha * a + beta))"
    dtypes = FLOATS

    alpha: float = 0.2
    beta: float = 0.5

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """The defaults and the constants of MobileNetV3."""
        return [cls(), cls(1 / 6, 0.5)]
