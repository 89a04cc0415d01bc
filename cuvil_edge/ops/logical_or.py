"""LogicalOr: of bools (ONNX Or; named so because ``or`` is a word of Python)."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import Elementwise


@dataclass(frozen=True)
class LogicalOr(Elementwise):
    """True where at least one is True."""

    scalar = "or_(a, b)"
    dtypes = (DType.BOOL,)
    shape_arithmetic = True
