"""fold_add_into_matmul: a constant row added to a matrix product becomes its bias."""

from __future__ import annotations

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Node, Value, merged_layers
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes, sole_user
from cuvil_edge.passes.fusions._per_channel import channel_vector


class FoldAddIntoMatmul(Pass):
    """``matmul(a, b) + constant[n]`` becomes ``matmul(a, b, bias)``."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""
        users = graph.users()

        def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
            if not isinstance(node.op, Add):
                return None
            for value, other in (node.operands, node.operands[::-1]):
                product = value.producer
                if product is None or not isinstance(product.op, Matmul) or len(product.inputs) > 2:
                    continue
                if product.operand(1).type.rank < 2:
                    continue  # the last axis of the result is its rows
                columns = value.type.shape[-1]
                if not isinstance(columns, int):
                    continue
                if channel_vector(other, columns, value.type.rank, value.type.rank - 1) is None:
                    continue
                if sole_user(value, users, graph) is not node:
                    log.refused(node, f"the result of {product.name} is used elsewhere too")
                    continue
                bias = other.data.reshape(-1)
                if bias.size != columns:
                    bias = bias.repeat(columns)
                builder.name, builder.layers = product.name, merged_layers([product, node])
                log.changed("folded add into matmul")
                return builder.add(product.op, [*product.inputs, builder.constant(bias, f"{product.name}.bias")])
            return None

        if rewrite_nodes(graph, rewrite):
            graph.remove_dead()
