"""verify: each way in which a pass can spoil a graph is found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ir.verify import GraphFault, verify
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.relu import Relu


def _graph() -> Graph:
    graph = Graph("g")
    builder = GraphBuilder(graph, "n", ("layer",))
    x = builder.input("x", DType.F32, (3,))
    relu = builder.add1(Relu(), x)
    graph.outputs = [builder.add1(Add(), relu, builder.constant(np.ones(3, np.float32)))]
    graph.output_names = ["y"]
    return graph


def test_a_sound_graph_passes() -> None:
    verify(_graph())


def _reverse(graph: Graph) -> None:
    graph.nodes.reverse()


def _define_twice(graph: Graph) -> None:
    graph.nodes.append(graph.nodes[0])


def _lose_the_producer(graph: Graph) -> None:
    graph.nodes[0].output.producer = None


def _lose_the_layers(graph: Graph) -> None:
    graph.nodes[0].layers = ()


def _output_of_nowhere(graph: Graph) -> None:
    graph.outputs = [Value("lost", TensorType(DType.F32, (3,)))]


def _lose_an_output_name(graph: Graph) -> None:
    graph.output_names = []


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_reverse, "used before it is defined"),
        (_define_twice, "defined twice"),
        (_lose_the_producer, "does not name its producer"),
        (_lose_the_layers, "layer names are lost"),
        (_output_of_nowhere, "is not defined"),
        (_lose_an_output_name, "1 outputs have 0 names"),
    ],
)
def test_spoilt_graphs_are_found(spoil: Callable[[Graph], None], message: str) -> None:
    graph = _graph()
    spoil(graph)
    with pytest.raises(GraphFault, match=message):
        verify(graph)
