"""import_onnx as a whole: sources, names, dimensions, metadata, and all problems in one pass."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from cuvil_edge.errors import CuvilError, ModelError, ShapeError, UnsupportedError, UsageError
from cuvil_edge.frontends.onnx import import_onnx
from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.evaluate import reference_run
from cuvil_edge.ir.verify import verify
from tests.frontends.onnx.onnx_models import make_model, one_node, tensor_info


def _relu(shape: list[int | str | None] | None = None) -> ModelProto:
    return make_model([one_node("Relu")], [tensor_info("x", shape or ["N", 3])])


def test_a_path_bytes_and_a_message_give_the_same_graph(tmp_path: Path) -> None:
    model = _relu()
    data = model.SerializeToString(deterministic=True)
    path = tmp_path / "small.onnx"
    path.write_bytes(data)
    sources = [import_onnx(path), import_onnx(str(path)), import_onnx(data), import_onnx(model)]
    assert [each.name for each in sources] == ["small", "small", "test", "test"]
    assert {each.sha256 for each in sources} == {hashlib.sha256(data).hexdigest()}
    for each in sources:
        verify(each.graph)
        assert each.opset == 17
        assert each.graph.output_names == ["y"]
        assert str(each.graph.outputs[0]) == str(each.graph.outputs[0])
        x = np.array([[-1, 0, 2]], np.float32)
        assert reference_run(each.graph, {"x": x})[0].tolist() == [[0, 0, 2]]


def test_metadata_is_kept() -> None:
    model = _relu()
    model.producer_name, model.doc_string = "exporter", "what it does"
    helper.set_model_props(model, {"labels": "cat\ndog"})
    metadata = import_onnx(model).metadata
    assert metadata == {"producer_name": "exporter", "description": "what it does", "labels": "cat\ndog"}


def test_nodes_carry_the_users_names() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="first"),
        helper.make_node("Sigmoid", ["a"], ["b"]),
        helper.make_node("Tanh", ["b"], ["c"], name="first"),
        helper.make_node("Mean", ["a", "b", "c"], ["y"], name="mean"),
    ]
    graph = import_onnx(make_model(nodes)).graph
    assert [node.layers for node in graph.nodes[:3]] == [("first",), ("Sigmoid_1",), ("first_2",)]
    assert {node.layers for node in graph.nodes[3:]} == {("mean",)}
    assert len({node.name for node in graph.nodes}) == len(graph.nodes)
    assert [value.name for value in (*graph.nodes[0].outputs, *graph.outputs)] == ["a", "y"]


def test_values_made_for_a_node_do_not_take_the_users_names() -> None:
    nodes = [
        helper.make_node("Mean", ["x", "x", "x"], ["m"], name="n"),
        helper.make_node("Relu", ["m"], ["n.1"], name="r"),
    ]
    graph = import_onnx(make_model(nodes, outputs=["n.1"])).graph
    names = [value.name for value in graph.values()]
    assert len(set(names)) == len(names)
    assert graph.outputs[0].name == "n.1"


def test_initializers_that_are_inputs_too_are_weights() -> None:
    inputs = [tensor_info("x", [2, 3]), tensor_info("w", [3])]
    model = make_model([one_node("Add", ["x", "w"])], inputs, constants={"w": np.ones(3, np.float32)}, opset=8)
    graph = import_onnx(model).graph
    assert [value.name for value in graph.inputs] == ["x"]


def test_dims_fix_and_bound_symbols() -> None:
    model = _relu(["N", 3, "H", "W"])
    graph = import_onnx(model, dims={"N": 2, "H": (32, 100, 32), "W": (5, None)}).graph
    batch, _, height, width = graph.inputs[0].type.shape
    assert batch == 2
    assert height == Dim.of(Symbol("H", 32, 96, 32))
    assert width == Dim.of(Symbol("W", 5))


def test_an_unknown_dimension_is_named_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match=r"batch: the model has no such dimension\n.*N"):
        import_onnx(_relu(), dims={"batch": 1})


def test_all_problems_come_in_one_error_with_node_names() -> None:
    nodes = [
        helper.make_node("NonZero", ["x"], ["a"], name="finder"),
        helper.make_node("Relu", ["a"], ["b"], name="after_a_problem"),
        helper.make_node("Unknown", ["b"], ["c"], name="mystery"),
        helper.make_node("Softmax", ["x"], ["d"], name="wrong_axis", axis=7),
        helper.make_node("Fancy", ["x"], ["e"], name="own", domain="com.example"),
        helper.make_node("Add", ["c", "d"], ["y"], name="last"),
    ]
    model = make_model(nodes, domains=["com.example"])
    model.graph.value_info.append(tensor_info("a", [2, "found"], TensorProto.INT64))
    with pytest.raises(CuvilError) as caught:
        import_onnx(model)
    assert isinstance(caught.value, ModelError)
    text = "\n".join(caught.value.details)
    assert len(caught.value.details) == 4
    assert "node finder (NonZero, ai.onnx 17)" in text
    assert "i64[2, found]" in text
    assert "node mystery (Unknown, ai.onnx 17)" in text
    assert "node wrong_axis (Softmax)" in text
    assert "node own (com.example.Fancy, com.example 1)" in text
    assert "after_a_problem" not in text
    assert "last" not in text


def test_only_unsupported_operators_make_an_unsupported_error() -> None:
    nodes = [helper.make_node("NonZero", ["x"], ["a"]), helper.make_node("Unique", ["a"], ["y"])]
    with pytest.raises(UnsupportedError) as caught:
        import_onnx(make_model(nodes))
    assert len(caught.value.details) == 2


def test_shape_faults_name_the_node_and_the_shapes() -> None:
    model = make_model([one_node("Add", ["x", "w"])], constants={"w": np.ones(4, np.float32)})
    with pytest.raises(ShapeError, match=r"(?s)node node .*f32\[2, 3\], f32\[4\]"):
        import_onnx(model)


@pytest.mark.parametrize(
    ("opset", "found"), [(6, "version_converter"), (999, "update")], ids=["too_old", "newer_than_known"]
)
def test_operator_sets_outside_the_range_are_refused(opset: int, found: str) -> None:
    with pytest.raises(UnsupportedError, match=found):
        import_onnx(make_model([one_node("Relu")], opset=opset))


def test_inputs_that_are_no_tensors_or_have_no_shape_are_named() -> None:
    sequence = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, None)
    with pytest.raises(UnsupportedError, match="input x: is not a tensor"):
        import_onnx(make_model([one_node("Identity")], [sequence]))
    shapeless = helper.make_tensor_value_info("x", TensorProto.FLOAT, None)
    with pytest.raises(UnsupportedError, match="input x: an input has no shape"):
        import_onnx(make_model([one_node("Identity")], [shapeless]))
    with pytest.raises(UnsupportedError, match=r"input x: element type string"):
        import_onnx(make_model([one_node("Identity")], [tensor_info("x", [1], TensorProto.STRING)]))


def test_outputs_that_nothing_makes_or_twice_are_faults() -> None:
    with pytest.raises(ModelError, match="output z: nothing makes this output"):
        import_onnx(make_model([one_node("Relu")], outputs=["y", "z"]))
    with pytest.raises(ModelError, match="output y: two outputs have one name"):
        import_onnx(make_model([one_node("Relu")], outputs=["y", "y"]))
    model = make_model([one_node("Relu")], outputs=["y"])
    del model.graph.output[:]
    with pytest.raises(ModelError, match="no outputs"):
        import_onnx(model)


def test_an_output_may_be_an_input_or_a_constant() -> None:
    model = make_model([one_node("Relu")], outputs=["y", "x", "c"], constants={"c": np.ones(2, np.float32)})
    graph = import_onnx(model).graph
    x = np.ones((2, 3), np.float32)
    results = reference_run(graph, {"x": x})
    assert [result.shape for result in results] == [(2, 3), (2, 3), (2,)]


def test_operators_that_nothing_reads_leave_no_nodes() -> None:
    nodes = [one_node("Relu"), helper.make_node("Exp", ["x"], ["unused"])]
    assert len(import_onnx(make_model(nodes)).graph.nodes) == 1
