"""fold_transpose_into_matmul: an exchange of the last two axes becomes a flag of the product."""

from __future__ import annotations

from dataclasses import replace

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Node, Value, merged_layers
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes


class FoldTransposeIntoMatmul(Pass):
    """``matmul(a, transpose(b))`` reads ``b`` the other way round instead of moving it."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""

        def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
            if node.op.name != "matmul":
                return None
            op, inputs, sources = node.op, list(node.inputs), [node]
            for index, flag in ((0, "transpose_a"), (1, "transpose_b")):
                producer = inputs[index].producer
                if producer is None or producer.op.name != "transpose" or not _swaps_last_two(producer.op.permutation):
                    continue
                op = replace(op, **{flag: not getattr(op, flag)})
                inputs[index] = producer.inputs[0]
                sources.insert(0, producer)
                log.changed("folded transpose into matmul")
            if op is node.op:
                return None
            builder.layers = merged_layers(sources)
            return builder.add(op, inputs)

        if rewrite_nodes(graph, rewrite):
            graph.remove_dead()


def _swaps_last_two(permutation: tuple[int, ...]) -> bool:
    rank = len(permutation)
    return rank >= 2 and permutation == (*range(rank - 2), rank - 1, rank - 2)
