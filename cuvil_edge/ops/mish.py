"""Mish: x * tanh(softplus(x))."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Mish(Elementwise):
    """``a * tanh(log(1 + e ** a))``."""

    scalar = "a * tanh(max(a, 0) + log1p(exp(-abs(a))))"
    dtypes = FLOATS
