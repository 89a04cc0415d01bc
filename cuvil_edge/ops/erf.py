"""Erf: the error function."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ops._elementwise import FLOATS, Elementwise


@dataclass(frozen=True)
class Erf(Elementwise):
    """The Gauss error function."""

    scalar = "erf(a)"
    dtypes = FLOATS
