"""Sub: element-wise difference."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import NUMBERS, Elementwise


@dataclass(frozen=True)
class Sub(Elementwise):
    """``a - b`` with broadcasting; integers wrap."""

    scalar = "a - b"
    dtypes = NUMBERS
    shape_arithmetic = True
