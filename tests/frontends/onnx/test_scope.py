"""Functions and branches: inlined with the right values, attributes and operator sets, and named after their call."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import AttributeProto, FunctionProto, ModelProto, helper

from cuvil_edge.errors import CuvilError, ModelError, UnsupportedError
from cuvil_edge.frontends.onnx import import_onnx
from cuvil_edge.ir.evaluate import reference_run
from tests.frontends.onnx.onnx_models import make_model, one_node, subgraph

X = np.array([[-2, -1, 0], [1, 2, 3]], np.float32)


def _function(
    name: str, nodes: list[object], inputs: list[str], attributes: tuple[str, ...] = (), opset: int = 17
) -> FunctionProto:
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, inputs, ["out"], nodes, opsets, attributes)


def _call(
    name: str, functions: list[FunctionProto], inputs: tuple[str, ...] = ("x",), **attributes: object
) -> ModelProto:
    node = helper.make_node(name, inputs, ["y"], name="call", domain="own", **attributes)
    return make_model([node], domains=["own"], functions=functions, constants={"c": np.ones(3, np.float32)})


def _leaky(default: float | None = None) -> FunctionProto:
    node = helper.make_node("LeakyRelu", ["a"], ["out"])
    node.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.FLOAT))
    function = _function("Leaky", [node], ["a"], ("slope",))
    if default is not None:
        del function.attribute[:]
        function.attribute_proto.append(helper.make_attribute("slope", default))
    return function


def test_functions_take_the_attributes_of_their_call() -> None:
    graph = import_onnx(_call("Leaky", [_leaky()], slope=0.5)).graph
    assert reference_run(graph, {"x": X})[0].tolist() == [[-1, -0.5, 0], [1, 2, 3]]
    assert graph.nodes[0].layers == ("call/LeakyRelu_0",)
    assert graph.outputs[0].name == "y"


def test_attributes_of_functions_have_defaults() -> None:
    for model, slope in ((_call("Leaky", [_leaky()]), 0.01), (_call("Leaky", [_leaky(0.25)]), 0.25)):
        [result] = reference_run(import_onnx(model).graph, {"x": X})
        np.testing.assert_allclose(result, np.where(X < 0, slope * X, X))


def test_nested_functions_and_optional_inputs() -> None:
    inner = _function("Inner", [helper.make_node("Clip", ["a", "low"], ["out"])], ["a", "low"])
    outer = _function(
        "Outer",
        [helper.make_node("Inner", ["p"], ["t"], domain="own"), helper.make_node("Add", ["t", "q"], ["out"])],
        ["p", "q"],
    )
    graph = import_onnx(_call("Outer", [inner, outer], ("x", "c"))).graph
    np.testing.assert_array_equal(reference_run(graph, {"x": X})[0], X + 1)


def test_values_of_two_calls_have_names_of_their_own() -> None:
    nodes = [helper.make_node("Relu", ["a"], ["t"]), helper.make_node("Exp", ["t"], ["out"])]
    calls = [
        helper.make_node("Twice", ["x"], ["t"], name="one", domain="own"),
        helper.make_node("Twice", ["t"], ["y"], name="two", domain="own"),
    ]
    model = make_model(calls, domains=["own"], functions=[_function("Twice", nodes, ["a"])])
    names = [value.name for value in import_onnx(model).graph.values()]
    assert names == ["x", "one/t", "t", "two/t", "y"]


def test_a_function_has_its_own_operator_set() -> None:
    old = _function("Old", [helper.make_node("Clip", ["a"], ["out"], min=0.0, max=1.0)], ["a"], opset=10)
    graph = import_onnx(_call("Old", [old])).graph
    np.testing.assert_array_equal(reference_run(graph, {"x": X})[0], X.clip(0, 1))


def test_a_function_does_not_see_its_callers_values() -> None:
    thief = _function("Thief", [helper.make_node("Add", ["a", "c"], ["out"])], ["a"])
    with pytest.raises(ModelError, match="reads 'c', which nothing makes"):
        import_onnx(_call("Thief", [thief]))


def test_a_call_with_too_many_inputs_is_a_fault() -> None:
    with pytest.raises(ModelError, match="more inputs or outputs"):
        import_onnx(_call("Leaky", [_leaky()], ("x", "c")))


def test_faults_inside_functions_name_the_call() -> None:
    broken = _function("Broken", [helper.make_node("NonZero", ["a"], ["out"], name="inside")], ["a"])
    with pytest.raises(UnsupportedError, match=r"node call/inside \(NonZero"):
        import_onnx(_call("Broken", [broken]))


def _choice(condition: bool) -> ModelProto:
    then = subgraph([helper.make_node("Add", ["x", "c"], ["t"], name="plus")], ["t"])
    other = subgraph([helper.make_node("NonZero", ["x"], ["e"])], ["e"])
    node = one_node("If", ["flag"], then_branch=then, else_branch=other)
    return make_model([node], constants={"flag": np.array(condition), "c": np.ones(3, np.float32)})


def test_the_branch_of_a_known_condition_is_taken_and_the_other_not_looked_at() -> None:
    graph = import_onnx(_choice(True)).graph
    np.testing.assert_array_equal(reference_run(graph, {"x": X})[0], X + 1)
    assert graph.nodes[0].layers == ("node/plus",)
    with pytest.raises(UnsupportedError, match="NonZero"):
        import_onnx(_choice(False))


def test_conditions_may_follow_from_shapes() -> None:
    then, other = (subgraph([helper.make_node(kind, ["x"], ["t"])], ["t"]) for kind in ("Relu", "Neg"))
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "one"], ["n"]),
        helper.make_node("Equal", ["n", "three"], ["flag"]),
        helper.make_node("If", ["flag"], ["y"], then_branch=then, else_branch=other),
    ]
    graph = import_onnx(make_model(nodes, constants={"one": np.array(1), "three": np.array(3)})).graph
    assert [node.op.name for node in graph.nodes] == ["relu"]


def test_optional_outputs_in_the_middle_may_have_no_name() -> None:
    node = helper.make_node("LayerNormalization", ["x", "c"], ["y", "", "inverse"])
    graph = import_onnx(make_model([node], outputs=["y", "inverse"], constants={"c": np.ones(3, np.float32)})).graph
    normal, inverse = reference_run(graph, {"x": X})
    np.testing.assert_allclose(inverse, 1 / np.sqrt(X.var(axis=1, keepdims=True) + 1e-5), rtol=1e-5)
    np.testing.assert_allclose(normal, (X - X.mean(axis=1, keepdims=True)) * inverse, rtol=1e-5)


def test_operators_of_a_domain_that_is_not_imported_are_faults() -> None:
    node = helper.make_node("Own", ["x"], ["y"], domain="com.example")
    with pytest.raises(CuvilError, match=r"does not import the operator set 'com\.example'"):
        import_onnx(make_model([node]))
