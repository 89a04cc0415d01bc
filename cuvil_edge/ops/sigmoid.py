"""Sigmoid: the logistic function."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Sigmoid(Elementwise):
    """``1 / (1 + e ** -a)``."""

    scalar = "sigmoid(a)"
    dtypes = FLOATS
