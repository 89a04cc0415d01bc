"""Small ONNX models that tests build themselves."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def chain_model(name: str = "chain") -> onnx.ModelProto:
    """``sigmoid(transpose(relu(x + b)))`` of x [N, 5, M]: two symbols, a constant, a layout change."""
    nodes = [
        helper.make_node("Add", ["x", "b"], ["sum"], name="add"),
        helper.make_node("Relu", ["sum"], ["positive"], name="relu"),
        helper.make_node("Transpose", ["positive"], ["turned"], name="turn", perm=[0, 2, 1]),
        helper.make_node("Sigmoid", ["turned"], ["y"], name="sigmoid"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 5, "M"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", "M", 5])
    bias = numpy_helper.from_array(np.arange(5, dtype=np.float32).reshape(5, 1), "b")
    graph = helper.make_graph(nodes, name, [x], [y], [bias])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _family_constants() -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    float_data = {
        "stem": random.standard_normal((16, 3, 3, 3)) * 0.2,
        "stem_bias": random.standard_normal(16) * 0.1,
        "depth": random.standard_normal((16, 1, 3, 3)) * 0.3,
        "point": random.standard_normal((24, 16, 1, 1)) * 0.2,
        "up": random.standard_normal((24, 8, 2, 2)) * 0.2,
        "dense": random.standard_normal((24, 10)) * 0.2,
        "power": np.full(1, 1.5),
        "root": np.full(1, 1.41421356),
        "one": np.full(1, 1.0),
        "scales": np.array([1, 1, 2, 2]),
        "table": random.standard_normal((7, 10)),
    }
    data = {key: value.astype(np.float32) for key, value in float_data.items()}
    integers = {
        "axes": [2, 3],
        "one_axis": [1],
        "edges": [0, 0, 1, 2, 0, 0, 1, 0],
        "zero": [0],
        "end": [24],
        "seven": [7],
    }
    data |= {key: np.array(value, np.int64) for key, value in integers.items()}
    data["gain"] = np.linspace(0.5, 1.5, 10, dtype=np.float32)
    return data


def _family_nodes() -> list[onnx.NodeProto]:
    make = helper.make_node
    return [
        make("Conv", ["x", "stem", "stem_bias"], ["c0"], name="stem", pads=[1, 1, 1, 1], strides=[2, 2]),
        make("HardSwish", ["c0"], ["c1"], name="hard_swish"),
        make("Conv", ["c1", "depth"], ["c2"], name="depthwise", pads=[1, 1, 1, 1], group=16),
        make("MaxPool", ["c2"], ["c3"], name="max_pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        make("Conv", ["c3", "point"], ["c4"], name="pointwise"),
        make("Relu", ["c4"], ["c5"], name="relu"),
        make("Pad", ["c5", "edges"], ["c6"], name="pad", mode="reflect"),
        make("AveragePool", ["c6"], ["c7"], name="average_pool", kernel_shape=[2, 2], strides=[1, 1]),
        make("Resize", ["c7", "", "scales"], ["c8"], name="resize", mode="linear"),
        make("ConvTranspose", ["c7", "up"], ["c9"], name="transposed", strides=[2, 2]),
        make("Concat", ["c8", "c9"], ["c10"], name="concat", axis=1),
        make("Slice", ["c10", "zero", "end", "one_axis"], ["c11"], name="slice"),
        make("ReduceMean", ["c11", "axes"], ["m"], name="mean", keepdims=0),
        make("MatMul", ["m", "dense"], ["p"], name="product"),
        make("Div", ["p", "root"], ["e0"], name="gelu_scale"),
        make("Erf", ["e0"], ["e1"], name="erf"),
        make("Add", ["e1", "one"], ["e2"], name="gelu_add"),
        make("Mul", ["p", "e2"], ["e3"], name="gelu_gate"),
        make("Abs", ["e3"], ["e4"], name="abs"),
        make("Pow", ["e4", "power"], ["e5"], name="pow"),
        make("Neg", ["e5"], ["e6"], name="neg"),
        make("Exp", ["e6"], ["e7"], name="exp"),
        make("Softmax", ["e7"], ["y"], name="softmax", axis=-1),
        make("ArgMax", ["y"], ["best"], name="arg_max", axis=-1, keepdims=0),
        make("Mod", ["best", "seven"], ["row"], name="mod"),
        make("Gather", ["table", "row"], ["picked"], name="gather", axis=0),
        make("Tanh", ["picked"], ["tanh"], name="tanh"),
        make("LayerNormalization", ["tanh", "gain"], ["z"], name="layer_norm", axis=-1),
    ]


def every_family_model(name: str = "families") -> onnx.ModelProto:
    """An image model [N, 3, H, W] that uses each kernel family, mathematics and indices."""
    graph = helper.make_graph(
        _family_nodes(),
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "H", "W"])],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 10]),
            helper.make_tensor_value_info("row", TensorProto.INT64, ["N"]),
            helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", 10]),
        ],
        [numpy_helper.from_array(array, key) for key, array in _family_constants().items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
