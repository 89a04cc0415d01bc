"""LogicalXor: of bools (ONNX Xor; named so because ``xor`` is a word of Python)."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops._elementwise import Elementwise


@dataclass(frozen=True)
class LogicalXor(Elementwise):
    """True where exactly one is True."""

    scalar = "xor_(a, b)"
    dtypes = (DType.BOOL,)
    shape_arithmetic = True
