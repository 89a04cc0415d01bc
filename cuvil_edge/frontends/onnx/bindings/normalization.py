"""Normalizations and softmax."""

from __future__ import annotations

from cuvil_edge.errors import UnsupportedError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops.batch_normalization import BatchNormalization


@binds("BatchNormalization", since=7)
def batch_normalization(node: OnnxNode) -> Value:
    """With the statistics that training left."""
    node.attributes.ignore("momentum", "spatial")
    if node.attributes.flag("training_mode"):
        raise UnsupportedError("training_mode is not supported", hint="export the model in inference mode")
    if any(node.output_used[1:]):
        raise UnsupportedError("statistics as outputs exist only while training")
    op = BatchNormalization(node.attributes.real("epsilon", 1e-5))
    return node.add(op, *(node.input(index) for index in range(5)))
