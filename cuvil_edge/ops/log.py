"""Log: natural logarithm."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Log(Elementwise):
    """The natural logarithm; NaN for negative elements, -inf for 0."""

    scalar = "log(a)"
    dtypes = FLOATS
