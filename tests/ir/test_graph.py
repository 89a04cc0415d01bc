"""Graphs: users, symbols, replacement, dead nodes, layer names."""

from __future__ import annotations

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, extents_text, merged_layers
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.exp import Exp
from cuvil_edge.ops.relu import Relu

N, M = Symbol("N"), Symbol("M")


def _graph() -> tuple[Graph, GraphBuilder]:
    graph = Graph("g")
    builder = GraphBuilder(graph, "n", ("layer",))
    x = builder.input("x", DType.F32, (Dim.of(N) * Dim.of(M), Dim.of(M)))
    relu = builder.add1(Relu(), x, name="relu")
    builder.add1(Exp(), relu, name="dead")
    graph.outputs = [builder.add1(Add(), relu, relu, name="add")]
    graph.output_names = ["y"]
    return graph, builder


def test_users_are_counted_once_for_each_use() -> None:
    graph, _ = _graph()
    relu = graph.nodes[0].output
    assert [node.name for node in graph.users()[relu]] == ["dead", "add", "add"]
    assert graph.users()[graph.outputs[0]] == []


def test_symbols_come_in_order_of_appearance() -> None:
    assert _graph()[0].symbols() == [M, N]


def test_dead_nodes_go() -> None:
    graph, _ = _graph()
    assert graph.remove_dead() == 1
    assert [node.name for node in graph.nodes] == ["relu", "add"]
    assert graph.remove_dead() == 0


def test_replacements_are_followed_to_the_end() -> None:
    graph, builder = _graph()
    x, relu = graph.inputs[0], graph.nodes[0].output
    other = builder.add1(Exp(), x)
    graph.replace_uses({relu: other, other: x})
    assert graph.nodes[2].inputs == [x, x]
    graph.replace_uses({graph.outputs[0]: x})
    assert graph.outputs == [x]


def test_layers_of_several_nodes_are_each_named_once() -> None:
    graph, builder = _graph()
    builder.layers = ("other", "layer")
    builder.add1(Relu(), graph.inputs[0])
    assert merged_layers(graph.nodes) == ("layer", "other")


def test_known_contents_are_small_whole_constants() -> None:
    _, builder = _graph()
    assert builder.constant(np.array([1, 2])).known_content().tolist() == [1, 2]  # type: ignore[union-attr]
    assert builder.constant(np.array([True])).known_content().tolist() == [True]  # type: ignore[union-attr]
    assert builder.constant(np.array([1.0])).known_content() is None
    assert builder.constant(np.zeros(5000, np.int64)).known_content() is None


def test_text_of_values_nodes_and_extents() -> None:
    graph, _ = _graph()
    assert repr(graph.nodes[0]) == "%relu: f32[M*N, M] = Relu()(%x)"
    assert extents_text((3, Dim.of(N) + 1)) == [3, "1+N"]
    assert [value.name for value in graph.values()] == ["x", "relu", "dead", "add"]
