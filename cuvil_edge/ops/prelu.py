"""PRelu: a learned slope for negative elements."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Prelu(Elementwise):
    """``a`` where it is not negative, else ``b * a``; the slope broadcasts to the data."""

    scalar = "select(a >= 0, a, b * a)"
    dtypes = NUMBERS
