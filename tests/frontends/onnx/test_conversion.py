"""What scopes share: names of layers, the spelling of the default domain, and limits of shapes."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from cuvil_edge.errors import CuvilError, ModelError, UnsupportedError
from cuvil_edge.frontends.onnx import import_onnx
from cuvil_edge.frontends.onnx.conversion import Conversion, check_size, declared_shapes, default_domain
from cuvil_edge.frontends.onnx.tensors import TensorReader
from cuvil_edge.ir.dim import Dim, Extent, Symbol, floordiv
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.ir.tensor_type import TensorType
from tests.frontends.onnx.onnx_models import make_model, one_node, tensor_info


def test_layers_have_names_of_their_own() -> None:
    conversion = Conversion(Graph("g"), TensorReader(None), [])
    assert [conversion.unique_layer(name) for name in ("a", "b", "a", "a", "a_2")] == ["a", "b", "a_2", "a_3", "a_2_2"]


def test_the_default_domain_has_one_spelling() -> None:
    assert default_domain("ai.onnx") == default_domain("") == ""
    assert default_domain("com.microsoft") == "com.microsoft"
    node = one_node("Relu")
    node.domain = "ai.onnx"
    assert len(import_onnx(make_model([node])).graph.nodes) == 1


def test_declared_shapes_are_shown_as_the_model_states_them() -> None:
    model = make_model([one_node("Relu")])
    model.graph.value_info.extend([tensor_info("a", ["N", 3, None]), tensor_info("s", [2], TensorProto.STRING)])
    model.graph.value_info.append(helper.make_tensor_sequence_value_info("q", TensorProto.FLOAT, None))
    assert declared_shapes(model.graph) == {"a": "f32[N, 3, ?]", "s": "?[2]"}


def _check(*shape: Extent) -> None:
    check_size(Value("v", TensorType(DType.F32, shape)))


def test_sizes_that_no_machine_has_are_faults() -> None:
    _check(2**30, 2**20)
    _check(Dim.of(Symbol("N")), 2**40)
    with pytest.raises(ModelError, match="too large"):
        _check(2**30, 2**30)
    with pytest.raises(ModelError, match="too large"):
        _check(Dim.of(Symbol("N", 2**31)), 2**31)


def test_powers_and_nested_divisions_are_limited() -> None:
    power: Extent = Dim.of(Symbol("N"))
    for _ in range(14):
        power = power * power
    nested: Extent = Dim.of(Symbol("N"))
    for index in range(1500):
        nested = floordiv(nested * nested + index, Dim.of(Symbol("M")) + index) if index < 12 else nested
    for extent in (power, nested):
        with pytest.raises(UnsupportedError, match="too complicated"):
            _check(extent)


def test_a_model_that_squares_its_shape_is_refused_soon() -> None:
    nodes, value = [], "x"
    for index in range(40):
        nodes.append(helper.make_node("Shape", [value], [f"s{index}"]))
        nodes.append(helper.make_node("Tile", [value, f"s{index}"], [f"t{index}"]))
        value = f"t{index}"
    with pytest.raises(CuvilError, match="too complicated"):
        import_onnx(make_model(nodes, [tensor_info("x", ["N"])], [value]))
