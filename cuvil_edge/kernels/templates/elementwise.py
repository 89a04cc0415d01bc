"""elementwise: every operation that is one scalar expression, as a loop (``csrc/kernels/loop/loop.h``)."""

from __future__ import annotations

from cuvil_edge.ir.graph import Node
from cuvil_edge.ir.op import Op
from cuvil_edge.ir.scalar import Arg
from cuvil_edge.kernels.kernel import KernelCall, Operand
from cuvil_edge.kernels.loop_call import copy_call, expression_call
from cuvil_edge.kernels.nest import broadcast_nest
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops._elementwise import Elementwise
from cuvil_edge.registry import load_plugins
from cuvil_edge.target.target import Target


def _elementwise_ops() -> tuple[str, ...]:
    ops = load_plugins("cuvil_edge.ops", Op)
    return tuple(name for name, op in ops.items() if issubclass(op, Elementwise))


class ElementwiseLoop(KernelTemplate):
    """Operands: the node's inputs that are there, then its output."""

    ops = _elementwise_ops()

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never: every scalar expression can be rendered."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One loop over the output."""
        assert isinstance(node.op, Elementwise)
        inputs = [value for value in node.inputs if value is not None]
        dtypes = [value.type.dtype for value in inputs]
        nest = broadcast_nest([value.type.shape for value in inputs], node.output.type.shape)
        operands = [Operand(value) for value in (*inputs, node.output)]
        expression = node.op.expression(dtypes)
        if isinstance(expression, Arg) and len(inputs) == 1:
            return [copy_call(node.op.name, nest, dtypes[0], *operands)]
        return [expression_call(node.op.name, expression, nest, [*dtypes, node.output.type.dtype], operands)]
