"""concat: each input copied to its place in the output."""

from __future__ import annotations

from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.kernel import KernelCall, Operand
from cuvil_edge.kernels.loop_call import copy_call
from cuvil_edge.kernels.nest import Access, Nest, row_major
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.concat import Concat
from cuvil_edge.target.target import Target


class ConcatCopies(KernelTemplate):
    """One call for each input; operands: the input, the output from where the input's part begins."""

    ops = ("concat",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """Copies that write with the output's strides."""
        assert isinstance(node.op, Concat)
        axis, output = node.op.axis, node.output
        strides, dtype = row_major(output.type.shape), output.type.dtype
        position: Extent = 0
        calls = []
        for value in node.inputs:
            assert value is not None
            shape = value.type.shape
            part = Operand(output, offset_bytes=position * strides[axis] * dtype.item_bytes)
            if shape[axis] != 0:
                nest = Nest(shape, (Access(row_major(shape)), Access(strides)))
                calls.append(copy_call("concat", nest, dtype, Operand(value), part))
            position = position + shape[axis]
        return calls
