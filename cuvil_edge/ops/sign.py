"""Sign: -1, 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Sign(Elementwise):
    """The sign of ``a`` as -1, 0 or 1; NaN stays NaN."""

    scalar = "sign(a)"
    dtypes = NUMBERS
