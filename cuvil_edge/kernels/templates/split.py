"""split: each part copied out of the input."""

from __future__ import annotations

from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.kernel import KernelCall, Operand
from cuvil_edge.kernels.loop_call import copy_call
from cuvil_edge.kernels.nest import Access, Nest, row_major
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.split import Split
from cuvil_edge.target.target import Target


class SplitCopies(KernelTemplate):
    """One call for each output; operands: the input from where the part begins, the output."""

    ops = ("split",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """Copies that read with the input's strides."""
        op, x = node.op, node.inputs[0]
        assert isinstance(op, Split)
        assert x is not None
        strides, dtype = row_major(x.type.shape), x.type.dtype
        position: Extent = 0
        calls = []
        for size, value in zip(op.sizes, node.outputs, strict=True):
            shape = value.type.shape
            part = Operand(x, offset_bytes=position * strides[op.axis] * dtype.item_bytes)
            if size != 0:
                nest = Nest(shape, (Access(strides), Access(row_major(shape))))
                calls.append(copy_call("split", nest, dtype, part, Operand(value)))
            position = position + size
        return calls
