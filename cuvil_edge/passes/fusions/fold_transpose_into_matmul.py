"""fold_transpose_into_matmul: an exchange of the last two axes becomes a flag of the product."""

from __future__ import annotations

from dataclasses import replace

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Node, Value, merged_layers
from cuvil_edge.ir.op import Op
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.ops.transpose import Transpose
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes


class FoldTransposeIntoMatmul(Pass):
    """``matmul(a, transpose(b))`` reads ``b`` the other way round instead of moving it."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""

        def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
            if not isinstance(node.op, Matmul):
                return None
            op, inputs, sources = node.op, list(node.inputs), [node]
            for index in (0, 1):
                producer = node.operand(index).producer
                if producer is None or not _swaps_last_two(producer.op):
                    continue
                op = (
                    replace(op, transpose_a=not op.transpose_a)
                    if index == 0
                    else replace(op, transpose_b=not op.transpose_b)
                )
                inputs[index] = producer.inputs[0]
                sources.insert(0, producer)
                log.changed("folded transpose into matmul")
            if op is node.op:
                return None
            builder.layers = merged_layers(sources)
            return builder.add(op, inputs)

        if rewrite_nodes(graph, rewrite):
            graph.remove_dead()


def _swaps_last_two(op: Op) -> bool:
    if not isinstance(op, Transpose):
        return False
    rank = len(op.permutation)
    return rank >= 2 and op.permutation == (*range(rank - 2), rank - 1, rank - 2)
