"""Risk: a result is written over bytes that are read later, belong to the caller or are an answer.

The nodes of random graphs are executed over slots that only know which computation wrote them last.
"""

from __future__ import annotations

import pytest

from cuvil_edge.codegen.storage import Storage
from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.ops._elementwise import Elementwise
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.softmax import Softmax
from tests.codegen.random_graphs import random_graph
from tests.passes.graphs import H, N, Sketch, W


def viewed(value: Value) -> Value:
    """The value whose bytes ``value`` shows."""
    while value.producer is not None and value.producer.op.is_view:
        value = value.producer.operand(0)
    return value


def faults(graph: Graph, storage: Storage) -> list[str]:
    """Every read that finds other bytes than it should, every write where no write may be."""
    content = {storage.slot_of[value]: value for value in graph.inputs}
    found = []
    for node in graph.nodes:
        if node.op.is_view:
            continue
        reads = [value for value in node.operands if value.constant is None]
        found += [f"{node.name} reads {value.name}" for value in reads if holds_other(content, storage, value)]
        for value in node.outputs:
            found += write_faults(graph, storage, node, value, reads)
            content[storage.slot_of[value]] = value
    return found + [f"output {value.name}" for value in graph.outputs if holds_other(content, storage, value)]


def holds_other(content: dict[int, Value], storage: Storage, value: Value) -> bool:
    return content.get(storage.slot_of[value]) is not viewed(value)


def write_faults(graph: Graph, storage: Storage, node: Node, value: Value, reads: list[Value]) -> list[str]:
    slot = storage.slot_of[value]
    found = [f"{node.name} writes the input {x.name}" for x in graph.inputs if storage.slot_of[x] == slot]
    for output in map(viewed, graph.outputs):
        if storage.slot_of[output] == slot and output is not value:
            found.append(f"{node.name} writes the output {output.name}")
    for x in reads:
        if storage.slot_of[x] == slot and not (isinstance(node.op, Elementwise) and x.type.bytes == value.type.bytes):
            found.append(f"{node.name} reads {x.name} after it has overwritten a part of it")
    return found


@pytest.mark.parametrize("block", range(10))
def test_every_read_finds_what_was_written(block: int) -> None:
    shared = 0
    for seed in range(block * 30, block * 30 + 30):
        graph = random_graph(seed)
        storage = Storage(graph)
        assert faults(graph, storage) == [], f"seed {seed}"
        shared += sum(len(values) > 1 for values in storage.values)
    assert shared > 60, "the graphs are no test: hardly anything shares memory"


def test_the_simulation_notices_a_clobbered_value() -> None:
    """The two halves of the faults that the storage must avoid, made by hand."""
    s = Sketch()
    x = s.input(N, H)
    first = s.add(Relu(), x)
    second = s.add(Relu(), first)
    graph = s.outputs(s.add(Add(), first, second))
    storage = Storage(graph)
    assert faults(graph, storage) == []
    storage.slot_of[second] = storage.slot_of[first]
    assert faults(graph, storage) == [f"layer2 reads {first.name}"]
    storage.slot_of[first] = storage.slot_of[x]
    assert "layer0 writes the input x" in faults(graph, storage)


def slots_of(storage: Storage, *values: Value) -> list[int]:
    return [storage.slot_of[value] for value in values]


def test_a_chain_works_in_place_and_its_last_result_is_the_output() -> None:
    s = Sketch()
    x = s.input(N, H)
    a = s.add(Relu(), x)
    b = s.add(Mul(), a, s.constant(1, 1))
    c = s.add(Relu(), b)
    storage = Storage(s.outputs(c))
    assert slots_of(storage, x, a, b, c) == [0, 1, 1, 2]


def test_a_view_keeps_what_it_shows_alive() -> None:
    s = Sketch()
    a = s.add(Relu(), s.input(N, H))
    view = s.add(Reshape((H * N,)), a)
    b = s.add(Relu(), a)
    graph = s.outputs(s.add(Softmax(0), view), s.add(Softmax(1), b))
    storage = Storage(graph)
    assert storage.slot_of[view] == storage.slot_of[a] != storage.slot_of[b]


def test_what_an_output_is_a_view_of_is_not_overwritten() -> None:
    s = Sketch()
    a = s.add(Relu(), s.input(N, H))
    view = s.add(Reshape((H * N,)), a)
    b = s.add(Relu(), a)
    storage = Storage(s.outputs(s.add(Softmax(1), b), view))
    assert storage.slot_of[b] != storage.slot_of[a]


def test_an_operand_that_is_broadcast_gives_no_memory() -> None:
    s = Sketch()
    a = s.add(Relu(), s.input(1, W))
    b = s.add(Relu(), s.input(H, 1, name="z"))
    y = s.add(Add(), a, b)
    storage = Storage(s.outputs(s.add(Softmax(1), y)))
    assert len({*slots_of(storage, a, b, y)}) == 3


def test_an_operand_that_is_no_element_wise_step_reads_elsewhere_is_not_overwritten() -> None:
    """A softmax reads a row while it writes one: only element-wise results may take an operand's place."""
    s = Sketch()
    a = s.add(Relu(), s.input(N, H))
    y = s.add(Softmax(1), a)
    storage = Storage(s.outputs(s.add(Relu(), y)))
    assert storage.slot_of[y] != storage.slot_of[a]
