"""Automatic padding, with numbers and with symbols, against the definition of ONNX."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from onnx import ModelProto

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx import import_onnx
from cuvil_edge.ir.evaluate import reference_run
from tests.frontends.onnx.onnx_models import make_model, one_node, tensor_info


def _pool(auto_pad: str, kernel: int, stride: int, dilation: int, extent: int | str = "L") -> ModelProto:
    attributes = {"kernel_shape": [kernel], "strides": [stride], "dilations": [dilation], "auto_pad": auto_pad}
    return make_model([one_node("MaxPool", **attributes)], [tensor_info("x", [1, 1, extent])])


def _expected(x: np.ndarray, auto_pad: str, kernel: int, stride: int, dilation: int) -> np.ndarray:
    """Maxima of windows, straight from the specification: ``ceil(input / stride)`` of them."""
    count, reach = -(-len(x) // stride), dilation * (kernel - 1) + 1
    total = max((count - 1) * stride + reach - len(x), 0)
    begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
    padded = np.concatenate([np.full(begin, -np.inf), x, np.full(total - begin, -np.inf)])
    return np.array([max(padded[i * stride : i * stride + reach : dilation]) for i in range(count)], np.float32)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_same_padding_agrees_with_the_definition_for_every_extent(auto_pad: str) -> None:
    for kernel, stride, dilation in product((1, 2, 3, 5), (1, 2, 3), (1, 2)):
        symbolic = import_onnx(_pool(auto_pad, kernel, stride, dilation)).graph
        for extent in (1, 2, 5, 6, 7, 12):
            x = np.random.default_rng(extent).standard_normal(extent).astype(np.float32)
            want = _expected(x, auto_pad, kernel, stride, dilation)
            static = import_onnx(_pool(auto_pad, kernel, stride, dilation, extent)).graph
            for graph in (symbolic, static):
                [got] = reference_run(graph, {"x": x.reshape(1, 1, -1)})
                np.testing.assert_array_equal(got.reshape(-1), want)


def test_valid_padding_is_none() -> None:
    [output] = import_onnx(_pool("VALID", 3, 2, 1)).graph.outputs
    assert str(output.type) == "f32[1, 1, -1+((1+L)//2)]"


@pytest.mark.parametrize(
    "attributes",
    [
        {"kernel_shape": [2], "strides": [1, 1]},
        {"kernel_shape": [2], "pads": [1]},
        {"kernel_shape": [2], "pads": [-1, 0]},
        {"kernel_shape": [2, 2]},
        {"kernel_shape": [0]},
        {},
    ],
    ids=str,
)
def test_windows_that_do_not_fit_are_faults(attributes: dict[str, list[int]]) -> None:
    with pytest.raises(ModelError, match=r"node node \(MaxPool\)"):
        import_onnx(make_model([one_node("MaxPool", **attributes)], [tensor_info("x", [1, 1, 9])]))


def test_an_unknown_padding_rule_is_named() -> None:
    with pytest.raises(UnsupportedError, match="SAME_MIDDLE"):
        import_onnx(_pool("SAME_MIDDLE", 2, 1, 1))
