"""Matrix products."""

from __future__ import annotations

from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops.gemm import Gemm
from cuvil_edge.ops.matmul import Matmul


@binds("MatMul")
def matmul(node: OnnxNode) -> Value:
    """numpy's matmul."""
    return node.add(Matmul(), node.input(0), node.input(1))


@binds("Gemm")
def gemm(node: OnnxNode) -> Value:
    """Scaled matrix product plus scaled matrix."""
    read = node.attributes
    op = Gemm(read.real("alpha", 1.0), read.real("beta", 1.0), read.flag("transA"), read.flag("transB"))
    return node.add(op, node.input(0), node.input(1), node.optional(2))
