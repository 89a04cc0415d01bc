"""Operators that the specification defines by functions are inlined, also for symbolic shapes."""

from __future__ import annotations

import numpy as np
from onnx import helper

from cuvil_edge.frontends.onnx import import_onnx
from cuvil_edge.frontends.onnx.schema_functions import function_of, has_function
from cuvil_edge.ir.evaluate import reference_run
from tests.frontends.onnx.onnx_models import make_model, one_node, tensor_info


def test_attention_runs_at_any_batch() -> None:
    inputs = [tensor_info(name, ["N", 2, 3, 4]) for name in "qkv"]
    graph = import_onnx(make_model([one_node("Attention", list("qkv"))], inputs, opset=23)).graph
    random = np.random.default_rng(0)
    for batch in (1, 3):
        q, k, v = (random.standard_normal((batch, 2, 3, 4)).astype(np.float32) for _ in range(3))
        scores = q @ np.swapaxes(k, -1, -2) / 2
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(reference_run(graph, {"q": q, "k": k, "v": v})[0], weights @ v, rtol=1e-5)


def test_attributes_have_the_defaults_of_the_specification() -> None:
    model = make_model([one_node("HannWindow", ["n"])], [tensor_info("x", [1])], constants={"n": np.array(8)})
    [window] = reference_run(import_onnx(model).graph, {"x": np.zeros(1, np.float32)})
    np.testing.assert_allclose(window, np.sin(np.pi * np.arange(8) / 8) ** 2, atol=1e-6)


def test_only_operators_with_a_definition_have_one() -> None:
    assert has_function("", "Attention", 23)
    assert not has_function("", "Conv", 17)
    assert not has_function("com.example", "Anything", 1)
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    assert function_of("", "Conv", 17, node, []) is None
