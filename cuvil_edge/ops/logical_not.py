"""LogicalNot: negation of bools (ONNX Not; named so because ``not`` is a Python keyword)."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import Elementwise


@dataclass(frozen=True)
class LogicalNot(Elementwise):
    """True where ``a`` is False."""

    scalar = "not_(a)"
    dtypes = (DType.BOOL,)
    shape_arithmetic = True
