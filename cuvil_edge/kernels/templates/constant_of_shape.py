"""constant_of_shape: a loop that reads nothing."""

from __future__ import annotations

from cuvil_edge.ir.graph import Node
from cuvil_edge.ir.scalar import Literal
from cuvil_edge.kernels.kernel import KernelCall, Operand
from cuvil_edge.kernels.loop_call import expression_call
from cuvil_edge.kernels.nest import broadcast_nest
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.constant_of_shape import ConstantOfShape
from cuvil_edge.target.target import Target


class ConstantFill(KernelTemplate):
    """Operand: the output."""

    ops = ("constant_of_shape",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One loop over the output."""
        op, y = node.op, node.output
        assert isinstance(op, ConstantOfShape)
        nest = broadcast_nest([], y.type.shape)
        return [expression_call("fill", Literal(op.value, op.dtype), nest, [op.dtype], [Operand(y)])]
