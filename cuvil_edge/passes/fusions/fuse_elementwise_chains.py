"""fuse_elementwise_chains: element-wise work on the same elements becomes one loop."""

from __future__ import annotations

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Node, Value, merged_layers
from cuvil_edge.ir.scalar import Arg, ScalarExpr, operation_count, substitute
from cuvil_edge.ops._elementwise import Elementwise
from cuvil_edge.ops.fused_elementwise import FusedElementwise
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes, sole_user

_MAX_OPERANDS = 8
_MAX_OPERATIONS = 40
"""Beyond these a loop runs out of registers and pointers, and fusing gains nothing."""


class FuseElementwiseChains(Pass):
    """A result that only one element-wise node of the same shape reads is computed inside that node."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph`` until nothing fuses any more."""
        while self._sweep(graph, log):
            graph.remove_dead()

    def _sweep(self, graph: Graph, log: PassLog) -> int:
        log.begin_sweep()
        users = graph.users()

        def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
            if not isinstance(node.op, Elementwise):
                return None
            for value in dict.fromkeys(node.operands):
                producer = value.producer
                if producer is None or not isinstance(producer.op, Elementwise) or value not in users:
                    continue  # a value that this sweep made is looked at in the next one
                reason = self._refuse(producer, node, users, graph)
                if reason is None:
                    return self._fuse(producer, node, builder, log)
                log.refused(node, reason)
            return None

        return rewrite_nodes(graph, rewrite)

    @staticmethod
    def _refuse(producer: Node, node: Node, users: dict[Value, list[Node]], graph: Graph) -> str | None:
        """Why ``producer`` cannot move into ``node``, or None."""
        if producer.output.type.shape != node.output.type.shape:
            return f"{producer.name} has fewer elements: fusing would compute them again and again"
        if sole_user(producer.output, users, graph) is not node:
            return f"the result of {producer.name} is used elsewhere too"
        operands = {*producer.operands, *node.operands}
        if len(operands) - 1 > _MAX_OPERANDS:
            return f"with {producer.name} the loop would read {len(operands) - 1} operands"
        if sum(operation_count(_tree(part)) for part in (producer, node)) > _MAX_OPERATIONS:
            return f"with {producer.name} the loop would be too long"
        return None

    @staticmethod
    def _fuse(producer: Node, node: Node, builder: GraphBuilder, log: PassLog) -> list[Value]:
        operands: list[Value] = []
        inner = rebased(_tree(producer), producer.operands, operands)
        args = [
            inner if value is producer.output else Arg(_position(value, operands), value.type.dtype)
            for value in node.operands
        ]
        builder.layers = merged_layers([producer, node])
        log.changed("fused element-wise nodes")
        return builder.add(FusedElementwise(substitute(_tree(node), args)), operands)


def _tree(node: Node) -> ScalarExpr:
    return node.op_as(Elementwise).expression([value.type.dtype for value in node.operands])


def rebased(tree: ScalarExpr, values: list[Value], operands: list[Value]) -> ScalarExpr:
    """``tree`` over ``operands`` instead of ``values``; operands that are missing are appended, each once."""
    return substitute(tree, [Arg(_position(value, operands), value.type.dtype) for value in values])


def _position(value: Value, operands: list[Value]) -> int:
    if value not in operands:
        operands.append(value)
    return operands.index(value)
