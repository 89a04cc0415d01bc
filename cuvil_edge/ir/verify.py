"""Invariants of a graph, checked after every pass; a violation is a fault of the compiler, not of the user."""

from __future__ import annotations

from cuvil_edge.ir.graph import Graph, Value


class GraphFault(AssertionError):
    """A pass left a graph that is not well formed."""


def verify(graph: Graph) -> None:
    """Raise GraphFault unless every value is defined before use, has one producer, and types are as inferred."""
    defined: set[Value] = set(graph.inputs)
    for node in graph.nodes:
        for value in node.inputs:
            if value is not None and not _known(value) and value not in defined:
                raise GraphFault(f"{node!r}: %{value.name} is used before it is defined")
        for value in node.outputs:
            if value in defined:
                raise GraphFault(f"{node!r}: %{value.name} is defined twice")
            if value.producer is not node:
                raise GraphFault(f"{node!r}: %{value.name} does not name its producer")
            defined.add(value)
        if not node.layers and node.inputs:
            raise GraphFault(f"{node!r}: the user's layer names are lost")
    for value in graph.outputs:
        if value not in defined and not _known(value):
            raise GraphFault(f"output %{value.name} is not defined")
    if len(graph.outputs) != len(graph.output_names):
        raise GraphFault(f"{len(graph.outputs)} outputs have {len(graph.output_names)} names")


def _known(value: Value) -> bool:
    """Constants, and values that exist only as extents, need no definition."""
    return value.constant is not None or (value.producer is None and value.content is not None)
