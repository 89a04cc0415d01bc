"""layer_normalization: rows with their own statistics (``csrc/kernels/normalize/layer_norm.h``)."""

from __future__ import annotations

from cuvil_edge.ir.dim import ceildiv, floordiv, maximum, product
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.loop_call import ITEM_ELEMENTS
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.layer_normalization import LayerNormalization
from cuvil_edge.target.target import Target

_SOURCE = """#include "kernels/normalize/layer_norm.h"
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {{
  return cuvil::kernels::normalize::run<{type}, {shift}>(operands, extents, begin, end, {epsilon});
}}
"""


class LayerNormalizationRows(KernelTemplate):
    """Operands: x, scale, the shift if there is one, y."""

    ops = ("layer_normalization",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Floats only."""
        return None if node.output.type.dtype.is_float else f"the element type is {node.output.type.dtype.value}"

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call over [rows, n]."""
        op, values = node.op, [value for value in node.inputs if value is not None]
        assert isinstance(op, LayerNormalization)
        shape, dtype = values[0].type.shape, values[0].type.dtype
        rows, n = product(shape[: op.axis]), product(shape[op.axis :])
        rows_per_item = maximum(1, floordiv(ITEM_ELEMENTS // 2, maximum(n, 1)))
        source = _SOURCE.format(
            name=KERNEL_NAME,
            type=ELEMENT_TYPES[dtype],
            shift=str(len(values) > 2).lower(),
            epsilon=repr(float(op.epsilon)),
        )
        operands = tuple(Operand(value) for value in (*values, node.output))
        items = ceildiv(rows, rows_per_item)
        return [KernelCall(Kernel.create("layer_norm", source), operands, (rows, n, rows_per_item), items)]
