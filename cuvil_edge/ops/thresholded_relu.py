"""ThresholdedRelu: zero up to a threshold."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class ThresholdedRelu(Elementwise):
    """``a`` where it is larger than ``alpha``, else 0."""

    scalar = "select(a > alpha, a, 0)"
    dtypes = FLOATS

    alpha: float = 1.0

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """The default and a negative threshold."""
        return [cls(), cls(-0.5)]
