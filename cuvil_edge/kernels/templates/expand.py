"""expand: a copy that reads repeated elements again."""

from __future__ import annotations

from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.kernel import KernelCall, Operand
from cuvil_edge.kernels.loop_call import copy_call
from cuvil_edge.kernels.nest import broadcast_nest
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.target.target import Target


class ExpandCopy(KernelTemplate):
    """Operands: the input, the output."""

    ops = ("expand",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One copy with strides of 0."""
        x, y = node.inputs[0], node.output
        assert x is not None
        nest = broadcast_nest([x.type.shape], y.type.shape)
        return [copy_call("expand", nest, x.type.dtype, Operand(x), Operand(y))]
