"""transpose: another order of axes, as a copy of rows or of square tiles (``csrc/kernels/loop``)."""

from __future__ import annotations

from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.kernel import KernelCall, Operand
from cuvil_edge.kernels.loop_call import copy_call
from cuvil_edge.kernels.nest import Access, Nest, row_major
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.transpose import Transpose
from cuvil_edge.target.target import Target


class TransposeCopy(KernelTemplate):
    """Operands: the input, the output."""

    ops = ("transpose",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never: every order of axes is a nest of strides."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One copy in the order of the output."""
        op, (x,) = node.op, node.inputs
        assert isinstance(op, Transpose)
        assert x is not None
        strides = row_major(x.type.shape)
        shape = node.output.type.shape
        nest = Nest(shape, (Access(tuple(strides[axis] for axis in op.permutation)), Access(row_major(shape))))
        return [copy_call("transpose", nest, x.type.dtype, Operand(x), Operand(node.output))]
