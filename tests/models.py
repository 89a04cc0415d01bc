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
