"""OnnxNode: what bindings may rely on: required inputs, known contents, folding, names."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx import import_onnx
from cuvil_edge.frontends.onnx.attributes import Attributes
from cuvil_edge.frontends.onnx.node import OnnxNode, normal_axes, normal_axis
from cuvil_edge.frontends.onnx.tensors import TensorReader
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.range import Range
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.shape import Shape
from tests.frontends.onnx.onnx_models import make_model, tensor_info

GRAPH = Graph("test")
BUILDER = GraphBuilder(GRAPH, "node", ("layer",))
X = BUILDER.input("x", DType.F32, (Dim.of(Symbol("N")), 3))


def _node(*inputs: Value | None) -> OnnxNode:
    return OnnxNode(
        "Test",
        17,
        "layer",
        Attributes([], {}, TensorReader(None)),
        inputs,
        [True],
        GraphBuilder(Graph("g"), "layer", ("layer",)),
    )


def _constant(*elements: float, dtype: type = np.int64) -> Value:
    return BUILDER.constant(np.array(elements, dtype), "c")


def test_missing_inputs_are_named_by_position() -> None:
    node = _node(X, None)
    assert node.input(0) is X
    assert node.optional(1) is None
    assert node.optional(5) is None
    for index in (1, 2):
        with pytest.raises(ModelError, match=f"input {index} is missing"):
            node.input(index)
    with pytest.raises(ModelError, match="too many inputs"):
        node.limit_inputs(1)


def test_run_time_values_are_no_constants() -> None:
    with pytest.raises(
        UnsupportedError, match=r"(?s)the axes \(input 0, 'x'\) is computed while.*expected: a constant"
    ):
        _node(X).constant(0, "the axes")
    with pytest.raises(UnsupportedError, match="depends on the data of the run"):
        _node(X).extents(0, "the shape")


def test_contents_may_be_constants_or_follow_from_shapes() -> None:
    node = _node(X, _constant(4, 5))
    shape = node.add(Shape(), X)
    assert _node(shape).extents(0, "s") == [Dim.of(Symbol("N")), 3]
    assert node.integers(1, "c") == (4, 5)
    with pytest.raises(UnsupportedError, match="symbolic dimension"):
        _node(shape).integers(0, "the axes")
    with pytest.raises(ModelError, match="not one number"):
        node.scalar(1, "the limit")


def test_small_constant_results_are_folded_and_leave_no_node() -> None:
    node = _node(_constant(1, 2), _constant(3, 4))
    total = node.add(Add(), node.input(0), node.input(1))
    assert total.constant is not None
    assert total.constant.tolist() == [4, 6]
    assert node.add(Range(0, 3, 1)).constant is not None
    assert not node.builder.graph.nodes


def test_nodes_of_one_layer_have_names_of_their_own() -> None:
    node = _node(X)
    first = node.add(Relu(), X)
    node.add(Add(), first, X)
    assert [each.name for each in node.builder.graph.nodes] == ["layer", "layer.1"]
    assert {each.layers for each in node.builder.graph.nodes} == {("layer",)}


def test_axes_are_normal() -> None:
    assert normal_axes([-1, 0], 3) == (2, 0)
    assert normal_axis(0, 0) == 0
    for axes in ([3], [-4], [1, -2]):
        with pytest.raises(ModelError):
            normal_axes(axes, 3)


def test_shape_computations_of_a_model_vanish() -> None:
    """The usual chain of exporters: flatten all but the batch, computed from the shape."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Unsqueeze", ["n", "axes"], ["u"]),
        helper.make_node("Concat", ["u", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    constants = {"zero": np.array(0), "axes": np.array([0]), "rest": np.array([-1])}
    graph = import_onnx(make_model(nodes, [tensor_info("x", ["N", 3, 4])], constants=constants)).graph
    assert [node.op.name for node in graph.nodes] == ["reshape"]
    assert str(graph.outputs[0].type) == "f32[N, 12]"
