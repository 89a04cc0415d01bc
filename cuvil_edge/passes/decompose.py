"""decompose: replace operations that are defined in terms of smaller ones."""

from __future__ import annotations

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes


class Decompose(Pass):
    """Repeats until no operation decomposes any more."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""

        def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
            results = node.op.decompose(builder, node.inputs)
            if results is not None:
                log.changed(f"decomposed {node.op.name}")
            return results

        while rewrite_nodes(graph, rewrite):
            pass
