"""Gelu: Gaussian error linear unit."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Gelu(Elementwise):
    """``a * P(X <= a)`` for a standard normal X; ``approximate`` is ``none`` (erf) or ``tanh``."""

    scalar = "0.5 * a * (1 + erf(a * 0.7071067811865476))"
    dtypes = FLOATS

    approximate: str = "none"

    def text(self) -> str:
        """With ``tanh``, the approximation of Hendrycks and Gimpel (arXiv 1606.08415)."""
        tanh = "0.5 * a * (1 + tanh(0.7978845608028654 * (a + 0.044715 * a * a * a)))"
        return tanh if self.approximate == "tanh" else self.scalar

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """Exact and approximate."""
        return [cls(), cls("tanh")]
