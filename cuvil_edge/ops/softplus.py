"""Softplus: a smooth Relu."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Softplus(Elementwise):
    """``log(1 + e ** a)``, written so that it does not overflow."""

    scalar = "max(a, 0) + log1p(exp(-abs(a)))"
    dtypes = FLOATS
