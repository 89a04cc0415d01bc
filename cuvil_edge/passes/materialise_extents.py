"""materialise_extents: write extents to memory where a kernel reads them as data."""

from __future__ import annotations

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.ops.extents import Extents
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes


class MaterialiseExtents(Pass):
    """A value that is known only as extents gets a step that writes it."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""
        written: dict[Value, Value] = {}

        def materialised(value: Value, builder: GraphBuilder) -> Value:
            if value not in written:
                assert value.content is not None
                op = Extents(tuple(value.content.flat), value.type.shape, value.type.dtype)
                written[value] = builder.add(op, (), name=value.name)[0]
                log.changed("wrote extents to memory")
            return written[value]

        def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
            node.inputs = [
                materialised(value, builder) if value is not None and _only_extents(value) else value
                for value in node.inputs
            ]
            return None

        rewrite_nodes(graph, rewrite)
        layers = graph.nodes[-1].layers if graph.nodes else ("output",)
        builder = GraphBuilder(graph, "extents", layers)
        graph.outputs = [materialised(value, builder) if _only_extents(value) else value for value in graph.outputs]


def _only_extents(value: Value) -> bool:
    return value.producer is None and value.constant is None and value.content is not None
