"""LogicalAnd: of bools (ONNX And; named so because ``and`` is a word of Python)."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import Elementwise


@dataclass(frozen=True)
class LogicalAnd(Elementwise):
    """True where both are True."""

    scalar = "and_(a, b)"
    dtypes = (DType.BOOL,)
    shape_arithmetic = True
