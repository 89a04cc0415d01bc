"""Relu: max(x, 0)."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import Elementwise


@dataclass(frozen=True)
class Relu(Elementwise):
    """``max(x, 0)``."""

    scalar = "max(a, 0)"
    dtypes = (DType.F32, DType.I32, DType.I8)
