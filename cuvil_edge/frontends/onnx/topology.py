"""The order of nodes: hostile or careless files may list them in any, name a value twice, or run in a circle."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from onnx import GraphProto, NodeProto

from cuvil_edge.errors import ModelError


def sort_nodes(
    nodes: Sequence[NodeProto], defined: Iterable[str], is_outer: Callable[[str], bool], names: Sequence[str]
) -> tuple[list[int], list[ModelError]]:
    """Indices of ``nodes`` in an order in which every value is made before it is read, and all faults found.

    Args:
        defined: values that exist before the first node (inputs and initializers).
        is_outer: whether a name is a value of an enclosing graph.
        names: what to call each node in a fault.

    Nodes that cannot be ordered (in a circle, or reading what nobody makes) are left out, each with a fault.
    """
    producers, faults = _producers(nodes, set(defined), names)
    waiting: list[int] = [0] * len(nodes)
    readers: dict[int, list[int]] = {}
    missing: set[int] = set()
    known = set(defined)
    for index, node in enumerate(nodes):
        for value in dict.fromkeys(_reads(node)):
            if value in known:
                continue
            if value in producers:
                waiting[index] += 1
                readers.setdefault(producers[value], []).append(index)
            elif not is_outer(value):
                missing.add(index)
                faults.append(ModelError(f"reads {value!r}, which nothing makes", thing=f"node {names[index]}"))
    order = _in_order(waiting, readers)
    left = [index for index, count in enumerate(waiting) if count > 0]
    if left:
        faults.append(_cycle_fault(left, nodes, producers, names))
    return [index for index in order if index not in missing], faults


def _producers(
    nodes: Sequence[NodeProto], defined: set[str], names: Sequence[str]
) -> tuple[dict[str, int], list[ModelError]]:
    producers: dict[str, int] = {}
    faults: list[ModelError] = []
    for index, node in enumerate(nodes):
        for value in node.output:
            if not value:
                continue
            if value in producers or value in defined:
                other = f"node {names[producers[value]]}" if value in producers else "an input or initializer"
                faults.append(ModelError(f"makes {value!r}, which {other} makes too", thing=f"node {names[index]}"))
            else:
                producers[value] = index
    return producers, faults


def _in_order(waiting: list[int], readers: dict[int, list[int]]) -> list[int]:
    """Kahn's algorithm that keeps the file's order among the nodes that are ready."""
    order: list[int] = []
    ready = deque(index for index, count in enumerate(waiting) if count == 0)
    while ready:
        index = ready.popleft()
        order.append(index)
        for reader in readers.get(index, ()):
            waiting[reader] -= 1
            if waiting[reader] == 0:
                ready.append(reader)
    return order


def _cycle_fault(
    left: list[int], nodes: Sequence[NodeProto], producers: dict[str, int], names: Sequence[str]
) -> ModelError:
    """Follow producers among the nodes that are left until one comes again."""
    among, seen, index = set(left), [], left[0]
    while index not in seen:
        seen.append(index)
        following = (producers[value] for value in _reads(nodes[index]) if producers.get(value) in among)
        index = next(following, seen[0])
    cycle = [names[i] for i in reversed(seen[seen.index(index) :])]
    shown = " -> ".join(cycle[:8]) + (" -> ..." if len(cycle) > 8 else f" -> {cycle[0]}")
    return ModelError("nodes depend on each other in a circle", found=shown)


def _reads(node: NodeProto) -> list[str]:
    """Names that a node reads, those inside its subgraphs included."""
    reads = [value for value in node.input if value]
    for attribute in node.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
            reads += _outer_reads(graph)
    return reads


def _outer_reads(graph: GraphProto) -> list[str]:
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    own |= {tensor.values.name for tensor in graph.sparse_initializer}
    own |= {value for node in graph.node for value in node.output}
    reads = [value for node in graph.node for value in _reads(node)] + [value.name for value in graph.output]
    return [value for value in reads if value not in own]
