"""Clip: limits from below and above."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Clip(Elementwise):
    """``a`` limited to ``[min, max]``; None is no limit. Where ``min > max`` the result is ``max``; NaN stays NaN."""

    scalar = "min(max(a, min), max)"
    dtypes = NUMBERS

    min: float | int | None = None
    max: float | int | None = None

    def text(self) -> str:
        """The expression of the limits that there are."""
        text = "a" if self.min is None else "max(a, min)"
        return text if self.max is None else f"min({text}, max)"

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """Both limits, each one, none, and the wrong order."""
        return [cls(0, 6), cls(2, None), cls(None, 2), cls(), cls(5, 1)]
