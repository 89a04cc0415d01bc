"""merge_equal_nodes: compute equal things once (common subexpressions)."""

from __future__ import annotations

from cuvil_edge.ir.graph import Graph, Node, Value, merged_layers
from cuvil_edge.passes.base import Pass, PassLog


class MergeEqualNodes(Pass):
    """Nodes with equal operations and the same inputs become one, which keeps all layer names."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""
        seen: dict[tuple[object, ...], Node] = {}
        replacements: dict[Value, Value] = {}
        kept: list[Node] = []
        for node in graph.nodes:
            node.inputs = [replacements.get(value, value) if value is not None else None for value in node.inputs]
            first = seen.setdefault((node.op, *map(id, node.inputs)), node)
            if first is node or any(value in graph.outputs for value in node.outputs):
                kept.append(node)
                continue
            log.changed(f"merged {node.op.name}")
            first.layers = merged_layers([first, node])
            replacements.update(zip(node.outputs, first.outputs, strict=True))
        graph.nodes = kept
        graph.replace_uses(replacements)
