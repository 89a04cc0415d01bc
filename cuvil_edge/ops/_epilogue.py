"""The element-wise tail that an operation with its own loops may apply to each result before it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op
from cuvil_edge.ir.scalar import Arg, Literal, ScalarExpr, call, evaluate, operation_count
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import require_broadcast_to


@dataclass(frozen=True)
class EpilogueOp(Op):
    """An operation with an epilogue.

    Attributes:
        epilogue: applied to each result; ``Arg(0)`` is the result with bias, ``Arg(i)`` epilogue operand ``i``.
    """

    epilogue: ScalarExpr | None = field(default=None, kw_only=True)
    own_inputs: ClassVar[int] = 3
    """The inputs before the operands of the epilogue."""


def with_epilogue(result: TensorType, epilogue: ScalarExpr | None, operands: Inputs, checks: Checks) -> TensorType:
    """The type after the epilogue; operands must broadcast to the result, which keeps its shape."""
    for value in operands:
        if value is not None:
            require_broadcast_to(value, result.shape, checks, "epilogue operand")
    return result if epilogue is None else TensorType(epilogue.dtype, result.shape)


def apply_epilogue(
    result: np.ndarray, epilogue: ScalarExpr | None, operands: Sequence[np.ndarray | None]
) -> np.ndarray:
    """``Arg(0)`` is the result, ``Arg(i)`` the operand ``i - 1``."""
    if epilogue is None:
        return result
    with np.errstate(all="ignore"):
        return evaluate(epilogue, [result, *(array for array in operands if array is not None)])


def epilogue_flops(epilogue: ScalarExpr | None) -> int:
    """Flops of one element."""
    return 0 if epilogue is None else operation_count(epilogue)


def sample_epilogue() -> ScalarExpr:
    """``min(max(result + operand, 0), 6)``: a residual connection and a clamp, for samples with one operand."""
    total = call("add", Arg(0, DType.F32), Arg(1, DType.F32))
    return call("min", call("max", total, Literal(0.0, DType.F32)), Literal(6.0, DType.F32))
