"""Greater: comparison."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Greater(Elementwise):
    """True where ``a`` is larger than ``b``."""

    scalar = "a > b"
    dtypes = NUMBERS
    shape_arithmetic = True
