"""arg_reduce: positions of extremes (``csrc/kernels/arg_reduce/arg_reduce.h``)."""

from __future__ import annotations

from cuvil_edge.ir.dim import ceildiv, floordiv, maximum, product
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.loop_call import ITEM_ELEMENTS
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops._arg import ArgReduce
from cuvil_edge.target.target import Target

_SOURCE = """#include "kernels/arg_reduce/arg_reduce.h"
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  constexpr cuvil::kernels::arg_reduce::Config kConfig{{{largest}, {last}}};
  return cuvil::kernels::arg_reduce::run<{type}, kConfig>(operands, extents, scratch, begin, end);
}}
"""


class ArgReduceLoops(KernelTemplate):
    """Operands: the input, the output."""

    ops = ("arg_max", "arg_min")

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call over [outer, axis, inner]."""
        op, x = node.op, node.inputs[0]
        assert isinstance(op, ArgReduce)
        assert x is not None
        shape = x.type.shape
        outer, n, inner = product(shape[: op.axis]), shape[op.axis], product(shape[op.axis + 1 :])
        outer_per_item = maximum(1, floordiv(ITEM_ELEMENTS, maximum(n * inner, 1)))
        source = _SOURCE.format(
            name=KERNEL_NAME,
            type=ELEMENT_TYPES[x.type.dtype],
            largest=str(op.name == "arg_max").lower(),
            last=str(op.select_last_index).lower(),
        )
        extents = (outer, n, inner, outer_per_item)
        items = ceildiv(outer, outer_per_item)
        return [KernelCall(Kernel.create(op.name, source), (Operand(x), Operand(node.output)), extents, items)]
