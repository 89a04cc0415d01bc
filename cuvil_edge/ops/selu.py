"""Selu: scaled exponential linear unit."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Selu(Elementwise):
    """``gamma * a`` where ``a`` is positive, else ``gamma * alpha * (e ** a - 1)``."""

    scalar = "gamma * select(a > 0, a, alpha * expm1(a))"
    dtypes = FLOATS

    alpha: float = 1.6732631921768188
    gamma: float = 1.0507010221481323

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """The defaults (of the ONNX specification) and other constants."""
        return [cls(), cls(2.0, 3.0)]
