"""What a pass is, and how it reports what it changed and what it refused."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.ir.op import Op


@dataclass
class PassLog:
    """What one pass did: a count of changes by kind, and refusals with their reasons."""

    name: str
    changes: dict[str, int] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    duration_ns: int = 0

    def changed(self, what: str) -> None:
        """Count one change."""
        self.changes[what] = self.changes.get(what, 0) + 1

    def begin_sweep(self) -> None:
        """A pass looks at the whole graph once more: refusals so far may be out of date, the last sweep's stand."""
        self.refusals.clear()

    def refused(self, node: Node, reason: str) -> None:
        """Note why a rewrite that could be expected at ``node`` did not happen."""
        if (line := f"{node.name} ({node.op.name}): {reason}") not in self.refusals:
            self.refusals.append(line)


class Pass(ABC):
    """A rewrite of a whole graph, in place. The graph is well formed before and after."""

    @abstractmethod
    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""


def rewrite_nodes(graph: Graph, rewrite: Callable[[Node, GraphBuilder], list[Value] | None]) -> int:
    """Offer every node to ``rewrite``, in order; where it returns values, they stand for the node's outputs.

    New nodes are added through the builder, which names them and their layers after the old node, and take its place.
    Returns the number of nodes rewritten.
    """
    old_nodes, graph.nodes = graph.nodes, []
    replacements: dict[Value, Value] = {}
    count = 0
    for node in old_nodes:
        node.inputs = [replacements.get(value, value) if value is not None else None for value in node.inputs]
        results = rewrite(node, GraphBuilder(graph, node.name, node.layers))
        if results is None:
            graph.nodes.append(node)
            continue
        count += 1
        for old, new in zip(node.outputs, results, strict=True):
            replacements[old] = new
            _keep_name(old, new, node)
    graph.outputs = [replacements.get(value, value) for value in graph.outputs]
    return count


def _keep_name(old: Value, new: Value, node: Node) -> None:
    """The value that takes the place of a named one takes its name too, if it was made for it."""
    if new.producer is not None and new.producer.name == node.name:
        new.name = old.name


def replace_op(node: Node, builder: GraphBuilder, op: Op, inputs: Sequence[Value | None] | None = None) -> list[Value]:
    """The node again with another operation or other inputs, under its own name."""
    return builder.add(op, node.inputs if inputs is None else inputs, name=node.name, layers=node.layers)


def sole_user(value: Value, users: dict[Value, list[Node]], graph: Graph) -> Node | None:
    """The one node that reads ``value`` (maybe several times), or None if others or the graph's outputs do."""
    readers = set(users.get(value, ()))
    return readers.pop() if len(readers) == 1 and value not in graph.outputs else None
