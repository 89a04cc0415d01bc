"""depthwise: convolution with a kernel for each channel alone (``csrc/kernels/depthwise/depthwise.h``)."""

from __future__ import annotations

import numpy as np

from cuvil_edge.ir.dim import Extent, ceildiv, maximum, minimum
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.conv_call import refuse_conv, two_axes
from cuvil_edge.kernels.epilogue import add_bias, make_epilogue
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.conv import Conv
from cuvil_edge.target.target import Target

_MAX_KERNEL_WIDTH = 11
_WORK_ITEMS = 32
_ITEM_MACS = 1 << 17
"""Multiply-adds of one work item: some microseconds."""
_MIN_RUN_BYTES = 512
"""Shorter runs of a pixel's channels cost more than rows that stay in the first cache save (measured on Zen 5)."""

_SOURCE = """\
#include "kernels/depthwise/depthwise.h"
namespace {{
{epilogue}
using Shape = cuvil::kernels::depthwise::Shape<{height}, {width}, {stride}, {dilation}, {pixels}>;
}}  // namespace
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return cuvil::kernels::depthwise::run<Shape, Epilogue>(operands, extents, scratch, begin, end);
}}
"""


class DepthwiseRows(KernelTemplate):
    """As many groups as channels and filters; weights stay in registers along a row of outputs."""

    ops = ("conv",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """One filter a channel; kernels up to a width that registers can hold."""
        if reason := refuse_conv(node):
            return reason
        if node.operand(1).constant is None:
            return "the weights are computed while running"
        op, shape = node.op_as(Conv), node.operand(1).data.shape
        if op.group != shape[0] or shape[1] != 1:
            return f"{op.group} groups of {shape[1]} channels for {shape[0]} filters are not one filter a channel"
        if shape[-1] > _MAX_KERNEL_WIDTH:
            return f"the kernel is {shape[-1]} wide, at most {_MAX_KERNEL_WIDTH} fit in registers"
        return None

    def cost(self, node: Node, target: Target) -> float:
        """No multiply-add is wasted."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call."""
        op, x, weights, bias = node.op_as(Conv), node.operand(0), node.operand(1).data, node.optional(2)
        images, (in_h, in_w) = x.type.shape[0], two_axes(x.type.shape[1:-1], 1)
        out_h, out_w = two_axes(node.output.type.shape[1:-1], 1)
        channels: int = weights.shape[0]
        kernel_h, kernel_w = two_axes(weights.shape[2:], 1)
        strides, dilations = two_axes(op.strides, 1), two_axes(op.dilations, 1)
        pads = two_axes(op.pads[: x.type.rank - 2], 0)
        lanes = target.instruction_set.f32_lanes
        block_channels = self._block_channels(channels, in_w, kernel_h, lanes, target)
        macs_per_row = maximum(1, out_w * (kernel_h * kernel_w * block_channels))
        rows = images * out_h
        channel_blocks = -(-channels // block_channels)
        fair = maximum(1, ceildiv(rows * channel_blocks, _WORK_ITEMS))
        block_rows = minimum(maximum(fair, ceildiv(_ITEM_MACS, macs_per_row)), maximum(1, rows))
        pixels = self._pixels(out_w, kernel_w, target)
        tree, values = op.epilogue, [value for value in node.inputs[3:] if value is not None]
        if bias is not None and bias.constant is None:
            tree, values, bias = *add_bias(tree, bias, values), None
        epilogue = make_epilogue(tree, values, node.output.type.shape)
        source = _SOURCE.format(
            name=KERNEL_NAME,
            epilogue=epilogue.source,
            height=kernel_h,
            width=kernel_w,
            stride=strides[1],
            dilation=dilations[1],
            pixels=pixels,
        )
        extents: tuple[Extent, ...] = (
            images, in_h, in_w, channels, out_h, out_w, channels, channels, strides[0], dilations[0], pads[0],
            pads[1], block_rows, block_channels,
        )  # fmt: skip
        operands = (
            Operand(x),
            Operand(packed=_padded(weights.reshape(channels, -1).T, lanes)),
            Operand(packed=_padded(np.zeros((1, channels)) if bias is None else bias.data.reshape(1, -1), lanes)),
            Operand(node.output),
            *epilogue.operands,
        )
        return [
            KernelCall(
                Kernel.create("depthwise", source),
                operands,
                (*extents, *epilogue.extents),
                ceildiv(rows, block_rows) * channel_blocks,
                (-(-block_channels // lanes) * lanes) * 4,
                f"{pixels} pixels a tile, {block_rows} rows x {block_channels} channels an item",
            )
        ]

    @staticmethod
    def _pixels(out_width: Extent, kernel_width: int, target: Target) -> int:
        """Outputs of a tile: accumulators, a kernel row of weights and an input share the registers."""
        if target.instruction_set.f32_lanes == 1:
            return 4
        most = min(8, target.instruction_set.vector_registers - kernel_width - 2)
        if isinstance(out_width, int):
            return min(range(max(1, most - 4), most + 1), key=lambda n: (-(-out_width // n) * n, -n))
        return most

    @staticmethod
    def _block_channels(channels: int, in_width: Extent, kernel_h: int, lanes: int, target: Target) -> int:
        """Channels whose input rows stay in the first cache from one output row to the next."""
        if not isinstance(in_width, int):
            return channels
        fitting = target.l1d_bytes // 2 // max(1, kernel_h * in_width * 4)
        block = fitting // lanes * lanes
        if block >= channels or block * 4 < _MIN_RUN_BYTES:
            return channels
        blocks = -(-channels // block)
        return -(-channels // (blocks * lanes)) * lanes


def _padded(rows: np.ndarray, lanes: int) -> np.ndarray:
    """Rows of channels, each padded with zeros to whole vectors."""
    width = -(-rows.shape[1] // lanes) * lanes
    padded = np.zeros((rows.shape[0], width), np.float32)
    padded[:, : rows.shape[1]] = rows
    return padded
