"""range: arithmetic sequences (``csrc/kernels/fill/fill.h``)."""

from __future__ import annotations

from cuvil_edge.ir.dim import Extent, ceildiv
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.loop_call import ITEM_ELEMENTS
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.range import Range
from cuvil_edge.target.target import Target

_SOURCE = """#include "kernels/fill/fill.h"
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {{
  return cuvil::kernels::fill::run_range<{type}>(operands, extents, begin, end, {start}, {step});
}}
"""


class RangeFill(KernelTemplate):
    """Operand: the output. Extents: the count, elements of a work item; start and step of integers."""

    ops = ("range",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One loop; numbers of floats are part of the code, those of integers are extents."""
        op, y = node.op, node.output
        assert isinstance(op, Range)
        arguments: list[Extent] = [y.type.elements, ITEM_ELEMENTS]
        numbers = ["extents[2]", "extents[3]"]
        if isinstance(op.start, float) or isinstance(op.delta, float):
            numbers = [repr(float(op.start)), repr(float(op.delta))]  # type: ignore[arg-type]
        else:
            arguments += [op.start, op.delta]
        source = _SOURCE.format(name=KERNEL_NAME, type=ELEMENT_TYPES[y.type.dtype], start=numbers[0], step=numbers[1])
        items = ceildiv(y.type.elements, ITEM_ELEMENTS)
        return [KernelCall(Kernel.create("range", source), (Operand(y),), tuple(arguments), items)]
