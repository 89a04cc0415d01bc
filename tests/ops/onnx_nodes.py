"""Operations as ONNX nodes, where they correspond one to one: what ONNX's own reference evaluator is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Sample

OPSET = 23
_CODES = {dtype: helper.np_dtype_to_tensor_dtype(dtype.numpy) for dtype in DType if dtype is not DType.BF16}


@dataclass(frozen=True)
class OnnxCall:
    """An ONNX operator with attributes and all of its inputs."""

    op_type: str
    inputs: tuple[np.ndarray | None, ...]
    attributes: dict[str, Any]
    opset: int = OPSET


Translate = Callable[[Sample], OnnxCall]
_NAMES = {
    "is_nan": "IsNaN",
    "is_inf": "IsInf",
    "prelu": "PRelu",
    "matmul": "MatMul",
    "lrn": "LRN",
    "gather_nd": "GatherND",
    "rms_normalization": "RMSNormalization",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_xor": "Xor",
    "logical_not": "Not",
}
# fmt: off
_SAME_ATTRIBUTES = [
    "abs", "acos", "acosh", "add", "arg_max", "arg_min", "asin", "asinh", "atan", "atanh", "bitwise_and",
    "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "celu", "cos", "cosh", "div", "elu", "equal", "erf",
    "exp", "floor", "gelu", "global_average_pool", "global_max_pool", "greater", "greater_or_equal",
    "hard_sigmoid", "hard_swish", "identity", "is_inf", "is_nan", "leaky_relu", "less", "less_or_equal", "log",
    "log_softmax", "logical_and", "logical_not", "logical_or", "logical_xor", "lp_normalization", "lrn", "max",
    "min", "mish", "mod", "mul", "neg", "pow", "prelu", "reciprocal", "relu", "round", "selu", "shrink",
    "sigmoid", "sign", "sin", "sinh", "size", "softmax", "softplus", "softsign", "sqrt", "sub", "tan", "tanh",
    "thresholded_relu", "where", "batch_normalization", "concat", "depth_to_space", "flatten", "gather",
    "gather_elements", "gather_nd", "group_normalization", "instance_normalization", "layer_normalization",
    "mean_variance_normalization", "rms_normalization",
]
# fmt: on
# fmt: off
_REDUCTIONS = [
    "l1", "l2", "log_sum", "log_sum_exp", "max", "mean", "min", "prod", "sum", "sum_square",
]
# fmt: on


def onnx_name(name: str) -> str:
    """The ONNX operator of an operation's file name."""
    return _NAMES.get(name) or "".join(part.capitalize() for part in name.split("_"))


def _same(sample: Sample) -> OnnxCall:
    """Attributes have the same names; bools are ints."""
    attributes = {field.name: _plain(getattr(sample.op, field.name)) for field in fields(sample.op)}
    return OnnxCall(onnx_name(sample.op.name), sample.inputs, attributes)


def _plain(value: object) -> object:
    return int(value) if isinstance(value, bool) else list(value) if isinstance(value, tuple) else value


def _vector(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def _reduction(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    kind = {"l1": "L1", "l2": "L2"}.get(op.name.removeprefix("reduce_"))
    op_type = f"Reduce{kind}" if kind else onnx_name(op.name)
    attributes = {"keepdims": int(op.keepdims), "noop_with_empty_axes": 1}
    return OnnxCall(op_type, (sample.inputs[0], _vector(*op.axes)), attributes)


def _clip(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    x = np.asarray(sample.inputs[0])
    limits = [None if limit is None else np.array(limit, x.dtype) for limit in (op.min, op.max)]
    return OnnxCall("Clip", (x, *limits), {})


def _cast(sample: Sample) -> OnnxCall:
    return OnnxCall("Cast", sample.inputs, {"to": _CODES[sample.op.dtype]})  # type: ignore[attr-defined]


def _bit_shift(sample: Sample) -> OnnxCall:
    return OnnxCall("BitShift", sample.inputs, {"direction": sample.op.direction.upper()})  # type: ignore[attr-defined]


def _conv(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    attributes = {name: _plain(getattr(op, name)) for name in ("strides", "pads", "dilations", "group")}
    if op.name == "conv_transpose":
        attributes["output_padding"] = list(op.output_padding)
    return OnnxCall(onnx_name(op.name), sample.inputs[:3], attributes)


def _pool(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    attributes = {name: _plain(getattr(op, name)) for name in ("strides", "pads", "dilations", "ceil_mode")}
    attributes["kernel_shape"] = list(op.kernel)
    if op.name == "average_pool":
        attributes["count_include_pad"] = int(op.count_include_pad)
    return OnnxCall(onnx_name(op.name), sample.inputs, attributes)


def _gemm(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    attributes = {"alpha": op.alpha, "beta": op.beta, "transA": int(op.transpose_a), "transB": int(op.transpose_b)}
    return OnnxCall("Gemm", sample.inputs, attributes)


def _matmul(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    a, b = (np.asarray(array) for array in sample.inputs[:2])
    left = np.swapaxes(a, -1, -2) if op.transpose_a else a
    right = np.swapaxes(b, -1, -2) if op.transpose_b else b
    return OnnxCall("MatMul", (left, right), {})


def _with_vector(name: str, attribute: str) -> Translate:
    def translate(sample: Sample) -> OnnxCall:
        return OnnxCall(name, (sample.inputs[0], _vector(*getattr(sample.op, attribute))), {})

    return translate


def _reshape(sample: Sample) -> OnnxCall:
    return OnnxCall("Reshape", (sample.inputs[0], _vector(*sample.op.shape)), {"allowzero": 1})  # type: ignore[attr-defined]


def _transpose(sample: Sample) -> OnnxCall:
    return OnnxCall("Transpose", sample.inputs, {"perm": list(sample.op.permutation)})  # type: ignore[attr-defined]


def _split(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    return OnnxCall("Split", (sample.inputs[0], _vector(*op.sizes)), {"axis": op.axis})


def _slice(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    first = -(2**31)
    ends = [first if end == -1 and step < 0 else end for end, step in zip(op.ends, op.steps, strict=True)]
    vectors = (_vector(*op.starts), _vector(*ends), _vector(*op.axes), _vector(*op.steps))
    return OnnxCall("Slice", (sample.inputs[0], *vectors), {})


def _pad(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    x = np.asarray(sample.inputs[0])
    return OnnxCall("Pad", (x, _vector(*op.pads), np.array(op.value, x.dtype)), {"mode": op.mode})


def _shape(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    return OnnxCall("Shape", sample.inputs, {"start": op.start, **({} if op.end is None else {"end": op.end})})


def _range(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    return OnnxCall("Range", tuple(np.array(n, op.dtype.numpy) for n in (op.start, op.limit, op.delta)), {})


def _constant_of_shape(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    value = helper.make_tensor("value", _CODES[op.dtype], [1], [op.value])
    return OnnxCall("ConstantOfShape", (_vector(*op.shape),), {"value": value})


def _resize(sample: Sample) -> OnnxCall:
    op: Any = sample.op
    x = np.asarray(sample.inputs[0])
    attributes = {
        "mode": op.mode,
        "coordinate_transformation_mode": op.coordinates,
        "nearest_mode": op.rounding,
        "cubic_coeff_a": op.cubic_coefficient,
        "exclude_outside": int(op.exclude_outside),
        "antialias": int(op.antialias),
        "extrapolation_value": op.extrapolation,
    }
    roi = np.array(op.roi, np.float32) if op.roi else None
    if all(scale is None for scale in op.scales):
        return OnnxCall("Resize", (x, roi, None, _vector(*op.shape)), attributes)
    return OnnxCall("Resize", (x, roi, np.array(op.scales, np.float32)), attributes)


TRANSLATIONS: dict[str, Translate] = {
    **dict.fromkeys(_SAME_ATTRIBUTES, _same),
    **{f"reduce_{name}": _reduction for name in _REDUCTIONS},
    "average_pool": _pool,
    "bit_shift": _bit_shift,
    "cast": _cast,
    "clip": _clip,
    "constant_of_shape": _constant_of_shape,
    "conv": _conv,
    "conv_transpose": _conv,
    "expand": _with_vector("Expand", "shape"),
    "gemm": _gemm,
    "matmul": _matmul,
    "max_pool": _pool,
    "pad": _pad,
    "range": _range,
    "reshape": _reshape,
    "resize": _resize,
    "shape": _shape,
    "slice": _slice,
    "split": _split,
    "squeeze": _with_vector("Squeeze", "axes"),
    "tile": _with_vector("Tile", "repeats"),
    "transpose": _transpose,
    "unsqueeze": _with_vector("Unsqueeze", "axes"),
}


def evaluate(call: OnnxCall, output_count: int) -> list[np.ndarray]:
    """The answer of ONNX's reference evaluator."""
    given = [(f"x{index}", np.asarray(array)) for index, array in enumerate(call.inputs) if array is not None]
    names = ["" if array is None else f"x{index}" for index, array in enumerate(call.inputs)]
    node = helper.make_node(call.op_type, names, [f"y{i}" for i in range(output_count)], **call.attributes)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for name, a in given
    ]
    outputs = [helper.make_empty_tensor_value_info(f"y{index}") for index in range(output_count)]
    graph = helper.make_graph([node], "one", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", call.opset)])
    with np.errstate(all="ignore"):
        return [np.asarray(array) for array in ReferenceEvaluator(model).run(None, dict(given))]
