"""Constants in the graph."""

from __future__ import annotations

import numpy as np

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Value


@binds("Constant")
def constant(node: OnnxNode) -> Value:
    """Any kind of value but strings."""
    read = node.attributes
    if read.has("value_string") or read.has("value_strings"):
        raise UnsupportedError("strings are not supported")
    arrays = [
        (read.tensor("value"), None),
        (read.sparse_tensor("sparse_value"), None),
        (read.integer("value_int", None), DType.I64),
        (read.integers("value_ints", None), DType.I64),
        (read.real("value_float", None), DType.F32),
        (read.reals("value_floats", None), DType.F32),
    ]
    given = [(value, dtype) for value, dtype in arrays if value is not None]
    if len(given) != 1:
        raise ModelError("a constant has not exactly one value", found=f"{len(given)} values")
    value, dtype = given[0]
    return node.array(value, dtype if dtype is not None else DType.of(np.asarray(value)))
