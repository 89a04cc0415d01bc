"""conv: convolution as an implicit matrix product (``csrc/kernels/conv/conv.h``)."""

from __future__ import annotations

from cuvil_edge.ir.dim import bounds
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.conv_call import Filters, Window, conv_call, kernel_first, refuse_conv, two_axes
from cuvil_edge.kernels.kernel import KernelCall
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.conv import Conv
from cuvil_edge.target.target import Target


class ImplicitProduct(KernelTemplate):
    """Any kernel size, stride, dilation and group over one or two spatial axes; channels last."""

    ops = ("conv",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """f32, weights of a fixed shape, one or two spatial axes, channels last."""
        return refuse_conv(node)

    def cost(self, node: Node, target: Target) -> float:
        """Multiply-adds, relative to those that are needed: filters of a group are padded to whole vectors."""
        lanes = target.instruction_set.f32_lanes
        filters = bounds(node.operand(1).type.shape[0])[0] // node.op_as(Conv).group
        return lanes * -(-filters // lanes) / max(1, filters)

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call."""
        op, x = node.op_as(Conv), node.operand(0)
        weights = Filters.of(node.operand(1), lambda whole: kernel_first(whole, op.group))
        window = Window(
            two_axes(x.type.shape[1:-1], 1),
            two_axes(node.output.type.shape[1:-1], 1),
            (weights.view.shape[1], weights.view.shape[2]),
            two_axes(op.strides, 1),
            two_axes(op.dilations, 1),
            two_axes(op.pads[: x.type.rank - 2], 0),
        )
        return [conv_call(node, window, weights, target)]
