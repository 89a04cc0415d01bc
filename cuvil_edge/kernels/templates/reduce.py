"""reduce: sum, mean, maximum, minimum and product over axes (``csrc/kernels/reduce/reduce.h``)."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ir.dim import Extent, Shape, ceildiv, floordiv, maximum, minimum, product
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.loop_call import ITEM_ELEMENTS, copy_call
from cuvil_edge.kernels.nest import broadcast_nest, row_major
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops._reduce import Reduce
from cuvil_edge.target.target import Target

_COLUMN_STEP = 64

_SOURCE = """#include "kernels/reduce/reduce.h"
namespace reduce = cuvil::kernels::reduce;
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return reduce::run_{form}<reduce::{op}, {type}, {kept}, {reduced}>(operands, extents, scratch, begin, end);
}}
"""


@dataclass(frozen=True)
class _MergedAxes:
    """A dense tensor's axes, neighbours of one kind merged: extents, strides and whether each is reduced."""

    extents: Shape
    strides: Shape
    reduced: tuple[bool, ...]

    def of_kind(self, reduced: bool) -> list[int]:
        """The axes that are reduced, or the others."""
        return [axis for axis, kind in enumerate(self.reduced) if kind is reduced]


def merge_axes(shape: Shape, reduced_axes: tuple[int, ...]) -> _MergedAxes:
    """Kept and reduced axes of a dense tensor, alternating; axes of extent 1 dropped."""
    extents: list[Extent] = []
    kinds: list[bool] = []
    for axis, extent in enumerate(shape):
        kind = axis in reduced_axes
        if extent == 1:
            continue
        if kinds and kinds[-1] is kind:
            extents[-1] = extents[-1] * extent
        else:
            extents.append(extent)
            kinds.append(kind)
    return _MergedAxes(tuple(extents), row_major(tuple(extents)), tuple(kinds))


class ReduceLoops(KernelTemplate):
    """Operands: the input, the output."""

    ops = ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod")

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never: every element type and choice of axes is covered."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call; a copy where nothing is reduced."""
        op, x, y = node.op, node.inputs[0], node.output
        assert isinstance(op, Reduce)
        assert x is not None
        axes = merge_axes(x.type.shape, op.axes)
        if not any(axes.reduced):
            shape = (x.type.elements,)
            return [copy_call(op.name, broadcast_nest([shape], shape), x.type.dtype, Operand(x), Operand(y))]
        kept, reduced = axes.of_kind(False), axes.of_kind(True)
        rows = axes.reduced[-1]
        (reduced if rows else kept).pop()
        count = product(tuple(extent for extent, kind in zip(axes.extents, axes.reduced, strict=True) if kind))
        source = _SOURCE.format(
            name=KERNEL_NAME,
            form="rows" if rows else "columns",
            op=op.name.removeprefix("reduce_").capitalize(),
            type=ELEMENT_TYPES[x.type.dtype],
            kept=len(kept),
            reduced=len(reduced),
        )
        points = product(tuple(axes.extents[axis] for axis in kept))
        last = axes.extents[-1]
        points_per_item, columns_per_item, items = _split(points, 1 if rows else last, count)
        extents = [axes.extents[axis] for axis in (*kept, *reduced)]
        strides = [axes.strides[axis] for axis in (*kept, *reduced)]
        arguments = (*extents, last, count, points_per_item, columns_per_item, *strides)
        return [KernelCall(Kernel.create(op.name, source), (Operand(x), Operand(y)), arguments, items)]


def _split(points: Extent, columns: Extent, count: Extent) -> tuple[Extent, Extent, Extent]:
    """Kept points and columns of a work item, and the number of items, for ``count`` elements reduced into one."""
    wanted = maximum(_COLUMN_STEP, ceildiv(ITEM_ELEMENTS, maximum(count, 1) * _COLUMN_STEP) * _COLUMN_STEP)
    columns_per_item = maximum(1, minimum(columns, wanted))
    points_per_item = maximum(1, floordiv(ITEM_ELEMENTS, maximum(count, 1) * maximum(columns, 1)))
    return points_per_item, columns_per_item, ceildiv(points, points_per_item) * ceildiv(columns, columns_per_item)
