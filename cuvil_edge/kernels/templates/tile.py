"""tile: a copy over the repeats and the axes in turn."""

from __future__ import annotations

from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.kernel import KernelCall, Operand
from cuvil_edge.kernels.loop_call import copy_call
from cuvil_edge.kernels.nest import Access, Nest, row_major
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.tile import Tile
from cuvil_edge.target.target import Target


class TileCopy(KernelTemplate):
    """Operands: the input, the output."""

    ops = ("tile",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One copy over [repeats[0], shape[0], repeats[1], ...], whose repeats read with strides of 0."""
        op, x, y = node.op, node.inputs[0], node.output
        assert isinstance(op, Tile)
        assert x is not None
        shape: list[Extent] = []
        strides: list[Extent] = []
        for repeats, extent, stride in zip(op.repeats, x.type.shape, row_major(x.type.shape), strict=True):
            shape += [repeats, extent]
            strides += [0, stride]
        nest = Nest(tuple(shape), (Access(tuple(strides)), Access(row_major(tuple(shape)))))
        return [copy_call("tile", nest, x.type.dtype, Operand(x), Operand(y))]
