"""slice: a strided copy."""

from __future__ import annotations

from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.kernel import KernelCall, Operand
from cuvil_edge.kernels.loop_call import copy_call
from cuvil_edge.kernels.nest import Access, Nest, row_major
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.slice import Slice
from cuvil_edge.target.target import Target

_NO_OFFSET: Extent = 0


class SliceCopy(KernelTemplate):
    """Operands: the input from its first element that is copied, the output."""

    ops = ("slice",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One copy that reads with the strides of the steps."""
        op, x, y = node.op, node.inputs[0], node.output
        assert isinstance(op, Slice)
        assert x is not None
        dense = row_major(x.type.shape)
        strides, offset = list(dense), _NO_OFFSET
        for start, axis, step in zip(op.starts, op.axes, op.steps, strict=True):
            offset = offset + start * dense[axis]
            strides[axis] = dense[axis] * step
        shape = y.type.shape
        source = Operand(x, offset_bytes=offset * x.type.dtype.item_bytes)
        nest = Nest(shape, (Access(tuple(strides)), Access(row_major(shape))))
        return [copy_call("slice", nest, x.type.dtype, source, Operand(y))]
