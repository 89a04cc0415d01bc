"""A graph as readable text, for ``--verbose`` and for tests."""

from __future__ import annotations

from cuvil_edge.ir.graph import Graph


def to_text(graph: Graph) -> str:
    """One line a node, in order; constants are shown by their type."""
    lines = [f"graph {graph.name}({', '.join(map(repr, graph.inputs))})"]
    lines += [f"  {node!r}  # {', '.join(node.layers)}" for node in graph.nodes]
    lines.append(f"  return {', '.join(f'%{value.name}' for value in graph.outputs)}")
    lines += [f"  check {check}" for check in graph.checks.pending]
    return "\n".join(lines)
