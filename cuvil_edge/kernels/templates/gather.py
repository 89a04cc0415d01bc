"""gather: slices chosen by indices (``csrc/kernels/gather/gather.h``)."""

from __future__ import annotations

from cuvil_edge.ir.dim import ceildiv, floordiv, maximum, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.loop_call import COPY_TYPES, ITEM_ELEMENTS
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.gather import Gather
from cuvil_edge.target.target import Target

_SOURCE = """#include "kernels/gather/gather.h"
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return cuvil::kernels::gather::run<{type}, {index}>(operands, extents, scratch, begin, end);
}}
"""


class GatherCopies(KernelTemplate):
    """Operands: the data, the indices, the output."""

    ops = ("gather",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Indices are i32 or i64."""
        indices = node.inputs[1]
        assert indices is not None
        dtype = indices.type.dtype
        return None if dtype in (DType.I32, DType.I64) else f"indices are {dtype.value}, not i32 or i64"

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call over [outer, axis, inner]."""
        op, x, indices, y = node.op, node.inputs[0], node.inputs[1], node.output
        assert isinstance(op, Gather)
        assert x is not None
        assert indices is not None
        shape = x.type.shape
        outer, inner = product(shape[: op.axis]), product(shape[op.axis + 1 :])
        count = indices.type.elements
        points_per_item = maximum(1, floordiv(ITEM_ELEMENTS, maximum(inner, 1)))
        items = ceildiv(outer * count, points_per_item) if inner != 0 else 0
        source = _SOURCE.format(
            name=KERNEL_NAME, type=COPY_TYPES[x.type.dtype.item_bytes], index=ELEMENT_TYPES[indices.type.dtype]
        )
        extents = (outer, shape[op.axis], inner, count, points_per_item)
        operands = (Operand(x), Operand(indices), Operand(y))
        return [KernelCall(Kernel.create("gather", source), operands, extents, items)]
