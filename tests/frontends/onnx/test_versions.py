"""Old forms of operators: attributes that became inputs, defaults and meanings that changed between opsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import helper

from cuvil_edge.errors import CuvilError, UnsupportedError
from cuvil_edge.frontends.onnx import import_onnx
from cuvil_edge.ir.evaluate import reference_run
from tests.frontends.onnx.onnx_models import make_model, tensor_info

X = np.random.default_rng(0).standard_normal((2, 3, 4, 5)).astype(np.float32)
Expected = Callable[[np.ndarray], np.ndarray]


def _run(op_type: str, opset: int, constants: dict[str, np.ndarray], **attributes: Any) -> np.ndarray:
    node = helper.make_node(op_type, ["x", *constants], ["y"], **attributes)
    model = make_model([node], [tensor_info("x", ["N", "C", 4, 5])], constants=constants, opset=opset)
    return reference_run(import_onnx(model).graph, {"x": X})[0]


def _ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def _softmax(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    powers = np.exp(x - x.max(axis=axes, keepdims=True))
    return powers / powers.sum(axis=axes, keepdims=True)


CASES: dict[str, tuple[str, int, dict[str, np.ndarray], dict[str, Any], Expected]] = {
    "clip_6": ("Clip", 8, {}, {"min": -0.5, "max": 0.5}, lambda x: x.clip(-0.5, 0.5)),
    "clip_6_one_side": ("Clip", 10, {}, {"max": 0.0}, lambda x: np.minimum(x, 0)),
    "clip_11": ("Clip", 11, {"a": np.float32(-1)}, {}, lambda x: np.maximum(x, -1)),
    "slice_1": ("Slice", 9, {}, {"starts": [1, -3], "ends": [99, -1], "axes": [1, 3]}, lambda x: x[:, 1:, :, -3:-1]),
    "slice_1_no_axes": ("Slice", 8, {}, {"starts": [0, 1], "ends": [1, 3]}, lambda x: x[:1, 1:3]),
    "slice_10": (
        "Slice",
        10,
        {"s": _ints(3), "e": _ints(0), "a": _ints(2), "t": _ints(-1)},
        {},
        lambda x: x[:, :, 3:0:-1],
    ),
    "pad_2": (
        "Pad",
        8,
        {},
        {"pads": [0, 0, 1, 2, 0, 0, 3, 0], "value": 2.5},
        lambda x: np.pad(x, [(0, 0), (0, 0), (1, 3), (2, 0)], constant_values=2.5),
    ),
    "pad_2_reflect": (
        "Pad",
        10,
        {},
        {"pads": [0, 0, 1, 0, 0, 0, 2, 0], "mode": "reflect"},
        lambda x: np.pad(x, [(0, 0), (0, 0), (1, 2), (0, 0)], "reflect"),
    ),
    "pad_11_negative": (
        "Pad",
        13,
        {"p": _ints(0, -1, 0, 2, 0, 0, -2, 0)},
        {},
        lambda x: np.pad(x[:, 1:, :-2], [(0, 0), (0, 0), (0, 0), (2, 0)]),
    ),
    "squeeze_1": ("Squeeze", 11, {}, {"axes": [0]}, lambda x: x),
    "unsqueeze_1": ("Unsqueeze", 8, {}, {"axes": [0, 5]}, lambda x: x[None, ..., None]),
    "unsqueeze_13": ("Unsqueeze", 13, {"a": _ints(-1)}, {}, lambda x: x[..., None]),
    "softmax_1": ("Softmax", 8, {}, {}, lambda x: _softmax(x, (1, 2, 3))),
    "softmax_11_negative": ("Softmax", 12, {}, {"axis": -2}, lambda x: _softmax(x, (2, 3))),
    "softmax_13": ("Softmax", 13, {}, {}, lambda x: _softmax(x, (3,))),
    "log_softmax_1": ("LogSoftmax", 9, {}, {"axis": 2}, lambda x: np.log(_softmax(x, (2, 3)))),
    "hardmax_1": ("Hardmax", 11, {}, {"axis": 1}, lambda x: (x == x.max(axis=(1, 2, 3), keepdims=True)).astype("f4")),
    "reduce_sum_1": ("ReduceSum", 11, {}, {"axes": [-1, 1], "keepdims": 0}, lambda x: x.sum(axis=(1, 3))),
    "reduce_sum_13": ("ReduceSum", 13, {"a": _ints(1)}, {}, lambda x: x.sum(axis=1, keepdims=True)),
    "reduce_mean_1_all": ("ReduceMean", 8, {}, {"keepdims": 1}, lambda x: x.mean(keepdims=True)),
    "reduce_max_18_none": ("ReduceMax", 18, {}, {"noop_with_empty_axes": 1}, lambda x: x),
    "reduce_l2_18_none": ("ReduceL2", 18, {}, {"noop_with_empty_axes": 1}, np.abs),
    "upsample_7": ("Upsample", 7, {}, {"scales": [1.0, 1.0, 2.0, 3.0]}, lambda x: x.repeat(2, 2).repeat(3, 3)),
    "upsample_9": (
        "Upsample",
        9,
        {"s": np.array([1, 1, 2, 2], np.float32)},
        {"mode": "nearest"},
        lambda x: x.repeat(2, 2).repeat(2, 3),
    ),
    "resize_10": ("Resize", 10, {"s": np.array([1, 1, 2, 1], np.float32)}, {}, lambda x: x.repeat(2, 2)),
    "dropout_7": ("Dropout", 8, {}, {"ratio": 0.9}, lambda x: x),
    "dropout_12": ("Dropout", 12, {"r": np.float32(0.9)}, {}, lambda x: x),
    "flatten_1": ("Flatten", 8, {}, {"axis": 3}, lambda x: x.reshape(24, 5)),
    "flatten_11_negative": ("Flatten", 11, {}, {"axis": -3}, lambda x: x.reshape(2, 60)),
    "transpose": ("Transpose", 8, {}, {}, lambda x: x.T),
    "shape_15": ("Shape", 15, {}, {"start": -2, "end": 99}, lambda x: _ints(4, 5)),
    "pow_7": ("Pow", 8, {"e": np.float32(2)}, {}, np.square),
    "gemm_free": ("Mean", 8, {"a": np.float32(1), "b": np.float32(2)}, {}, lambda x: (x + 3) / 3),
    "max_8": ("Max", 8, {"a": np.float32(0), "b": np.float32(0.5)}, {}, lambda x: np.maximum(x, 0.5)),
    "mvn_9": (
        "MeanVarianceNormalization",
        9,
        {},
        {},
        lambda x: (x - x.mean((0, 2, 3), keepdims=True)) / x.std((0, 2, 3), keepdims=True),
    ),
    "space_to_depth": ("SpaceToDepth", 8, {}, {"blocksize": 1}, lambda x: x),
}


@pytest.mark.parametrize("name", CASES)
def test_old_forms_mean_what_they_meant(name: str) -> None:
    op_type, opset, constants, attributes, expected = CASES[name]
    if name == "squeeze_1":
        with pytest.raises(CuvilError):
            _run(op_type, opset, constants, **attributes)  # the batch is 2
        return
    want = expected(X)
    got = _run(op_type, opset, {key: np.asarray(array) for key, array in constants.items()}, **attributes)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("op_type", "opset", "attributes"),
    [
        ("Gelu", 17, {}),
        ("Slice", 10, {"starts": [0], "ends": [1]}),
        ("Clip", 11, {"min": 0.0}),
        ("Squeeze", 13, {"axes": [0]}),
        ("ReduceMean", 18, {"axes": [1]}),
        ("Upsample", 9, {"scales": [1.0, 1.0, 2.0, 2.0]}),
    ],
)
def test_forms_of_other_opsets_are_refused(op_type: str, opset: int, attributes: dict[str, Any]) -> None:
    """An attribute that became an input must not be ignored silently."""
    with pytest.raises(CuvilError, match=op_type):
        _run(op_type, opset, {}, **attributes)


def test_statistics_of_single_elements_are_refused() -> None:
    constants = {name: np.ones(3, np.float32) for name in "smvb"}
    with pytest.raises(UnsupportedError, match="spatial"):
        _run("BatchNormalization", 8, constants, spatial=0)


def test_split_gives_equal_parts_of_symbolic_extents() -> None:
    node = helper.make_node("Split", ["x"], ["a", "b"], axis=0)
    for opset, parts in ((11, ["(N//2)", "(N//2)"]), (18, ["((1+N)//2)", "-((1+N)//2)+N"])):
        if opset == 18:
            node.attribute.append(helper.make_attribute("num_outputs", 2))
        graph = import_onnx(make_model([node], [tensor_info("x", ["N"])], ["a", "b"], opset=opset)).graph
        assert [str(value.type.shape[0]) for value in graph.outputs] == parts
    whole = np.arange(5, dtype=np.float32)
    assert [part.tolist() for part in reference_run(graph, {"x": whole})] == [[0, 1, 2], [3, 4]]


def test_split_13_takes_sizes_from_an_input() -> None:
    node = helper.make_node("Split", ["x", "s"], ["a", "b"], axis=1)
    for opset, constants, extra in ((13, {"s": _ints(1, 2)}, {}), (11, {}, {"split": [1, 2]})):
        if extra:
            node = helper.make_node("Split", ["x"], ["a", "b"], axis=1, **extra)
        graph = import_onnx(make_model([node], [tensor_info("x", ["N", 3])], ["a", "b"], constants, opset)).graph
        assert [str(value.type) for value in graph.outputs] == ["f32[N, 1]", "f32[N, 2]"]
