"""extents: values that the resolver computes, written to memory (``csrc/kernels/fill/fill.h``)."""

from __future__ import annotations

from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.extents import Extents
from cuvil_edge.target.target import Target

_SOURCE = """#include "kernels/fill/fill.h"
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void*, uint32_t, uint32_t) {{
  return cuvil::kernels::fill::run_values<{type}>(operands, extents, {count});
}}
"""


class ExtentsFill(KernelTemplate):
    """Operand: the output. Extents: the values."""

    ops = ("extents",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One work item."""
        assert isinstance(node.op, Extents)
        values = node.op.values
        type_ = ELEMENT_TYPES[node.output.type.dtype]
        source = _SOURCE.format(name=KERNEL_NAME, type=type_, count=len(values))
        return [KernelCall(Kernel.create("extents", source), (Operand(node.output),), values, min(len(values), 1))]
