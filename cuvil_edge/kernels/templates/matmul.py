"""matmul: batched matrix product (``csrc/kernels/matmul/matmul.h``)."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from cuvil_edge.ir.dim import Dim, Extent, Shape, bounds, ceildiv, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Node, Value
from cuvil_edge.ir.scalar import ScalarExpr
from cuvil_edge.kernels.epilogue import add_bias, make_epilogue, refuse_epilogue
from cuvil_edge.kernels.kernel import KERNEL_NAME, NOTHING, Kernel, KernelCall, Operand
from cuvil_edge.kernels.panels import pack_matrices, pad_vector
from cuvil_edge.kernels.product_schedule import Tile, choose_blocks, choose_tile, dynamic_blocks, rows_collide
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.target.target import Target

_SOURCE = """\
#include "kernels/matmul/matmul.h"
namespace {{
{epilogue}
using Tiling = cuvil::kernels::matmul::Tiling<{rows}, {vectors}, {bias}>;
}}  // namespace
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return cuvil::kernels::matmul::run<Tiling, Epilogue, {packed}>(operands, extents, scratch, begin, end);
}}
"""


@dataclass(frozen=True)
class _Problem:
    """The kernel's extents, in order."""

    rows: Extent
    depth: Extent
    columns: Extent
    a_row_stride: Extent
    a_depth_stride: Extent
    b_depth_stride: Extent
    b_column_stride: Extent
    out_row_stride: Extent
    copy_rows: int
    block_rows: Extent
    block_panels: Extent
    batch_rank: int


@dataclass(frozen=True)
class _Side:
    """One operand as matrices: leading axes, and elements between neighbours along the last two."""

    batch: Shape
    first_stride: Extent
    second_stride: Extent
    matrix_elements: Extent

    def strides(self, batch: Shape) -> list[Extent]:
        """Elements from one matrix to the next along each axis of the common ``batch``; 0 where it broadcasts."""
        own = ((1,) * len(batch) + self.batch)[len(self.batch) :]
        strides: list[Extent] = []
        step = self.matrix_elements
        for extent in reversed(own):
            strides.insert(0, 0 if extent == 1 else step)
            step = step * extent
        return strides


class PanelProduct(KernelTemplate):
    """Constant b is packed by the compiler, any other panel by panel while running; leading axes broadcast."""

    ops = ("matmul",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """f32 only."""
        dtype = node.output.type.dtype
        if dtype is not DType.F32:
            return f"the element type is {dtype.value}, not f32"
        return refuse_epilogue(node.op_as(Matmul).epilogue)

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call."""
        return [_Lowering(node, target).call()]


class _Lowering:
    """The parts of one call."""

    def __init__(self, node: Node, target: Target) -> None:
        self.node = node
        self.target = target
        self.op = node.op_as(Matmul)
        self.lanes = target.instruction_set.f32_lanes
        self.a, self.b = a, b = node.operand(0), node.operand(1)
        self.rows, self.depth = _matrix(a.type.shape, self.op.transpose_a, is_left=True)
        _, self.columns = _matrix(b.type.shape, self.op.transpose_b, is_left=False)
        columns, depth = (extent if isinstance(extent, int) else 0 for extent in (self.columns, self.depth))
        self.tile: Tile = choose_tile(target, columns=columns, depth=depth)

    def call(self) -> KernelCall:
        left, right, tile = self._left(), self._right(), self.tile
        batch = self._batch()
        rows = self.rows
        if not any(extent != 1 for extent in right.batch) and self._rows_are_one_matrix():
            rows, batch = rows * product(batch), ()
        packed = self.b.constant is not None
        copy_rows = self.op.transpose_a or self._collide(left.first_stride)
        block_rows, block_panels, items = self._blocks(rows, packed)
        problem = _Problem(
            rows, self.depth, self.columns, left.first_stride, left.second_stride, right.first_stride,
            right.second_stride, self.columns, int(copy_rows), block_rows, block_panels, len(batch),
        )  # fmt: skip
        axes = [
            part for triple in zip(batch, left.strides(batch), right.strides(batch), strict=True) for part in triple
        ]
        tree, bias, values = self._bias()
        epilogue = make_epilogue(tree, values, self.node.output.type.shape, one_column=self.b.type.rank == 1)
        source = _SOURCE.format(
            name=KERNEL_NAME,
            epilogue=epilogue.source,
            rows=tile.rows,
            vectors=tile.vectors,
            bias=str(bias is not NOTHING).lower(),
            packed=str(packed).lower(),
        )
        operands = (
            Operand(self.a),
            self._packed_b() if packed else Operand(self.b),
            bias,
            Operand(self.node.output),
            *epilogue.operands,
        )
        extents = tuple(getattr(problem, field.name) for field in fields(problem))
        return KernelCall(
            Kernel.create("matmul", source),
            operands,
            (*extents, *axes, *epilogue.extents),
            items * product(batch),
            self._scratch_bytes(problem, packed),
            f"tile {tile.rows}x{tile.vectors * self.lanes}, {block_rows} rows x {block_panels} panels an item",
        )

    def _batch(self) -> Shape:
        """Leading axes of the result."""
        dropped = (self.a.type.rank > 1) + (self.b.type.rank > 1)
        shape = self.node.output.type.shape
        return shape[: len(shape) - dropped]

    def _rows_are_one_matrix(self) -> bool:
        """True if all matrices of a follow one another, so that their rows are the rows of one."""
        leading = self.a.type.shape[:-2]
        batch = self._batch()
        return not self.op.transpose_a and (1,) * (len(batch) - len(leading)) + leading == batch

    def _left(self) -> _Side:
        batch, elements = self.a.type.shape[:-2], self.rows * self.depth
        if self.op.transpose_a:
            return _Side(batch, 1, self.rows, elements)
        return _Side(batch, self.depth, 1, elements)

    def _right(self) -> _Side:
        batch = self.b.type.shape[:-2]
        if self.b.constant is not None:
            return _Side(batch, 0, 0, self.depth * (ceildiv(self.columns, self.lanes) * self.lanes))
        elements = self.depth * self.columns
        if self.b.type.rank == 1:
            return _Side((), 1, 1, elements)
        return _Side(batch, 1, self.depth, elements) if self.op.transpose_b else _Side(batch, self.columns, 1, elements)

    def _packed_b(self) -> Operand:
        constant = self.b.data
        matrices = constant.reshape(-1, 1) if constant.ndim == 1 else constant
        matrices = np.swapaxes(matrices, -1, -2) if self.op.transpose_b else matrices
        return Operand(packed=pack_matrices(matrices, self.tile.vectors * self.lanes, self.lanes))

    def _bias(self) -> tuple[ScalarExpr | None, Operand, list[Value]]:
        """A constant bias starts the accumulators; any other is an operand of the epilogue."""
        bias = self.node.optional(2)
        values = [value for value in self.node.inputs[3:] if value is not None]
        if bias is None:
            return self.op.epilogue, NOTHING, values
        if bias.constant is not None:
            return self.op.epilogue, Operand(packed=pad_vector(bias.constant, self.lanes)), values
        tree, operands = add_bias(self.op.epilogue, bias, values)
        return tree, NOTHING, operands

    def _blocks(self, rows: Extent, packed: bool) -> tuple[Extent, Extent, Extent]:
        if packed and isinstance(self.depth, int) and isinstance(self.columns, int):
            blocks = choose_blocks(rows, self.depth, self.columns, self.tile, self.target)
            return blocks.rows, blocks.panels, blocks.items
        return dynamic_blocks(rows, self.columns, self.tile, self.lanes)

    def _collide(self, row_stride: Extent) -> bool:
        reads = bounds(ceildiv(self.columns, self.tile.vectors * self.lanes))[0]
        many = isinstance(self.rows, Dim) or self.rows >= self.tile.rows
        return (
            many and reads >= 4 and isinstance(row_stride, int) and rows_collide(4 * row_stride, self.tile, self.target)
        )

    def _scratch_bytes(self, problem: _Problem, packed: bool) -> Extent:
        tiles = ceildiv(problem.block_rows, self.tile.rows) * self.tile.rows
        size = ceildiv(tiles, 8) * 8 * 8
        if not packed:
            size = size + problem.depth * (self.tile.vectors * self.lanes * 4)
        if problem.copy_rows:
            size = size + problem.block_rows * (ceildiv(problem.depth, 16) * 16 + 16) * 4
        return size


def _matrix(shape: Shape, transposed: bool, is_left: bool) -> tuple[Extent, Extent]:
    """Rows and columns of an operand's matrices, as they are multiplied."""
    if len(shape) == 1:
        return (1, shape[0]) if is_left else (shape[0], 1)
    return (shape[-1], shape[-2]) if transposed else (shape[-2], shape[-1])
