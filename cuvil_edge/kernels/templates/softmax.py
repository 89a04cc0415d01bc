"""softmax: softmax and its logarithm along an axis (``csrc/kernels/softmax/softmax.h``)."""

from __future__ import annotations

from cuvil_edge.ir.dim import ceildiv, floordiv, maximum, minimum, product
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.target.target import Target

_ITEM_ELEMENTS = 4096
"""An exponential for each element: as long as several times as many plain loads."""
_COLUMN_VECTORS = 8

_SOURCE = """#include "kernels/softmax/softmax.h"
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return cuvil::kernels::softmax::run<{type}, {rows}, {log}>(operands, extents, scratch, begin, end);
}}
"""


class SoftmaxLoops(KernelTemplate):
    """Operands: the input, the output."""

    ops = ("softmax", "log_softmax")

    def refuse(self, node: Node, target: Target) -> str | None:
        """Floats only."""
        dtype = node.output.type.dtype
        return None if dtype.is_float else f"the element type is {dtype.value}, not a float"

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call over [outer, n, columns]."""
        x, y = node.inputs[0], node.output
        assert x is not None
        axis: int = node.op.axis  # type: ignore[attr-defined]
        shape, dtype = x.type.shape, x.type.dtype
        outer, n, columns = product(shape[:axis]), shape[axis], product(shape[axis + 1 :])
        rows = columns == 1
        block = _COLUMN_VECTORS * target.instruction_set.f32_lanes
        step = maximum(block, floordiv(_ITEM_ELEMENTS, maximum(n, 1) * block) * block)
        columns_per_item = maximum(1, minimum(columns, step))
        outer_per_item = maximum(1, floordiv(_ITEM_ELEMENTS, maximum(n, 1) * maximum(columns, 1)))
        items = ceildiv(outer, outer_per_item) * ceildiv(columns, columns_per_item)
        source = _SOURCE.format(
            name=KERNEL_NAME,
            type=ELEMENT_TYPES[dtype],
            rows=str(rows).lower(),
            log=str(node.op.name == "log_softmax").lower(),
        )
        extents = (outer, n, columns, outer_per_item, columns_per_item)
        return [KernelCall(Kernel.create(node.op.name, source), (Operand(x), Operand(y)), extents, items)]
