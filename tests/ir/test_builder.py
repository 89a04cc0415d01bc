"""GraphBuilder: inference, names, contents of shape computations, and errors with the node's name."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.cast import Cast
from cuvil_edge.ops.concat import Concat
from cuvil_edge.ops.constant_of_shape import ConstantOfShape
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.less import Less
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.shape import Shape
from cuvil_edge.ops.split import Split
from cuvil_edge.ops.where import Where

N = Dim.of(Symbol("N"))


@pytest.fixture
def builder() -> GraphBuilder:
    return GraphBuilder(Graph("g"), "node", ("layer",))


@pytest.fixture
def x(builder: GraphBuilder) -> Value:
    return builder.input("x", DType.F32, (N, 4))


def test_nodes_are_appended_with_types_names_and_layers(builder: GraphBuilder, x: Value) -> None:
    first, second = builder.add(Split(1, (1, 3)), [x], name="cut", output_names=["left"])
    assert (first.name, second.name) == ("left", "cut.1")
    assert str(second.type) == "f32[N, 3]"
    relu = builder.add1(Relu(), first)
    assert [node.name for node in builder.graph.nodes] == ["cut", "node"]
    assert relu.producer is builder.graph.nodes[1]
    assert relu.producer.layers == ("layer",)
    assert builder.added == builder.graph.nodes


def test_errors_say_which_node(builder: GraphBuilder, x: Value) -> None:
    with pytest.raises(ShapeError, match=r"node sum \(add\)"):
        builder.add1(Add(), x, builder.constant(np.zeros(3, np.float32)), name="sum")
    assert not builder.graph.nodes


def test_shape_computations_are_followed(builder: GraphBuilder, x: Value) -> None:
    shape = builder.add1(Shape(), x)
    doubled = builder.add1(Add(), shape, shape)
    joined = builder.add1(Concat(0), doubled, builder.constant(np.array([7])))
    narrow = builder.add1(Cast(DType.I32), joined)
    assert narrow.content is not None
    assert narrow.content.tolist() == [2 * N, 8, 7]


def test_questions_without_an_answer_leave_the_content_open(builder: GraphBuilder, x: Value) -> None:
    shape = builder.add1(Shape(), x)
    undecided = builder.add1(Less(), shape, builder.constant(np.array([5, 5])))
    assert undecided.content is None
    assert builder.add1(Where(), undecided, shape, shape).content is None
    assert builder.add1(Div(), shape, builder.constant(np.array([0, 1]))).content is None
    assert builder.add1(Less(), shape, builder.constant(np.array([1, 5]))).content.tolist() == [False, True]  # type: ignore[union-attr]


def test_floats_and_large_results_have_no_content(builder: GraphBuilder, x: Value) -> None:
    assert builder.add1(Cast(DType.F32), builder.add1(Shape(), x)).content is None
    assert builder.add1(ConstantOfShape((2**40,), 1, DType.I64)).content is None
    assert builder.add1(ConstantOfShape((3,), 1, DType.I64)).content.tolist() == [1, 1, 1]  # type: ignore[union-attr]


def test_run_time_values_have_no_content(builder: GraphBuilder) -> None:
    count = builder.input("count", DType.I64, (1,))
    assert builder.add1(Add(), count, builder.constant(np.array([1]))).content is None


def test_constants_keep_rank_0(builder: GraphBuilder) -> None:
    assert builder.constant(np.array(2.5, np.float32)).type.shape == ()
    assert builder.constant(np.zeros((2, 3))[:, ::2]).constant.flags["C_CONTIGUOUS"]  # type: ignore[union-attr]
