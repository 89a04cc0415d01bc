"""plain_matmul: products of other element types than f32 (``csrc/kernels/matmul/plain.h``)."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ir.dim import Extent, Shape, ceildiv, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Node, Value
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, NOTHING, Kernel, KernelCall, Operand
from cuvil_edge.kernels.nest import row_major
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.target.target import Target

_BLOCK_ROWS = 8
_SOURCE = """\
#include "kernels/matmul/plain.h"
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return cuvil::kernels::matmul::run_plain<{type}, {bias}>(operands, extents, scratch, begin, end);
}}
"""


@dataclass(frozen=True)
class _Side:
    """One operand as matrices: leading axes, extents and strides of rows and columns, strides of the leading axes."""

    batch: Shape
    rows: Extent
    columns: Extent
    row_stride: Extent
    column_stride: Extent
    batch_strides: Shape

    @staticmethod
    def of(value: Value, transposed: bool, is_left: bool) -> _Side:
        """Of the left operand or the right one; rank 1 is a row or a column."""
        shape, strides = value.type.shape, row_major(value.type.shape)
        if len(shape) == 1:
            return _Side((), 1, shape[0], 0, 1, ()) if is_left else _Side((), shape[0], 1, 1, 0, ())
        rows, columns = (-1, -2) if transposed else (-2, -1)
        return _Side(shape[:-2], shape[rows], shape[columns], strides[rows], strides[columns], strides[:-2])

    def strides_along(self, batch: Shape) -> list[Extent]:
        """Strides along the axes of the common ``batch``, 0 where this side broadcasts."""
        missing = len(batch) - len(self.batch)
        own = zip(self.batch, self.batch_strides, strict=True)
        return [*[0] * missing, *(0 if extent == 1 else stride for extent, stride in own)]


class PlainProduct(KernelTemplate):
    """Integers, f64, f16 and bf16: right, and slow."""

    ops = ("matmul",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """f32 has vector kernels, bools have no products; without an epilogue."""
        dtype = node.output.type.dtype
        if dtype in (DType.F32, DType.BOOL):
            return "f32 has vector kernels" if dtype is DType.F32 else "a product of bools is not defined"
        if node.op_as(Matmul).epilogue is not None:
            return f"the epilogue of {dtype.value} results has no kernel"
        return None

    def cost(self, node: Node, target: Target) -> float:
        """More than any vector kernel."""
        return 100.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call."""
        op, a, b, bias = node.op_as(Matmul), node.operand(0), node.operand(1), node.optional(2)
        left, right = _Side.of(a, op.transpose_a, is_left=True), _Side.of(b, op.transpose_b, is_left=False)
        dropped = (a.type.rank > 1) + (b.type.rank > 1)
        shape = node.output.type.shape
        batch = shape[: len(shape) - dropped]
        axes = zip(batch, left.strides_along(batch), right.strides_along(batch), strict=True)
        extents: list[Extent] = [
            left.rows, left.columns, right.columns, left.row_stride, left.column_stride, right.row_stride,
            right.column_stride, _BLOCK_ROWS, len(batch), *(part for triple in axes for part in triple),
        ]  # fmt: skip
        source = _SOURCE.format(name=KERNEL_NAME, type=ELEMENT_TYPES[a.type.dtype], bias=str(bias is not None).lower())
        operands = (Operand(a), Operand(b), NOTHING if bias is None else Operand(bias), Operand(node.output))
        items = product(batch) * ceildiv(left.rows, _BLOCK_ROWS)
        return [KernelCall(Kernel.create("matmul", source), operands, tuple(extents), items, notes="no vector kernel")]
