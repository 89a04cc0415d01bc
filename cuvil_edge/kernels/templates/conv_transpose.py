"""conv_transpose: one convolution for each phase of the strides (``csrc/kernels/conv/conv.h``)."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from cuvil_edge.ir.dim import Extent, ceildiv, maximum
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.conv_call import Spread, Window, conv_call, refuse_conv, two_axes
from cuvil_edge.kernels.kernel import KernelCall
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.conv_transpose import ConvTranspose
from cuvil_edge.target.target import Target


class PhaseConvolutions(KernelTemplate):
    """Output pixels whose place has one remainder by the stride need one subset of the kernel: a plain convolution."""

    ops = ("conv_transpose",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """As convolutions; pads must be fixed, because they decide which phase is first."""
        if any(not isinstance(pad, int) for pad in node.op_as(ConvTranspose).pads):
            return "its pads depend on a symbol"
        return refuse_conv(node)

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """strides[0] * strides[1] calls."""
        op = node.op_as(ConvTranspose)
        strides = two_axes(op.strides, 1)
        grouped = _kernel_first(node.operand(1).data, op.group)
        return [self._phase(node, grouped, (h, w), target) for h in range(strides[0]) for w in range(strides[1])]

    @staticmethod
    def _phase(node: Node, weights: np.ndarray, phase: tuple[int, int], target: Target) -> KernelCall:
        """Output pixels ``stride * j + phase`` for all j."""
        op, x = node.op_as(ConvTranspose), node.operand(0)
        strides, dilations = two_axes(op.strides, 1), two_axes(op.dilations, 1)
        pads = two_axes([pad for pad in op.pads[: x.type.rank - 2] if isinstance(pad, int)], 0)
        out_extents = two_axes(node.output.type.shape[1:-1], 1)
        height, width = (_axis(phase[i], weights.shape[1 + i], strides[i], dilations[i], pads[i]) for i in range(2))
        window = Window(
            two_axes(x.type.shape[1:-1], 1),
            (_count(out_extents[0], phase[0], strides[0]), _count(out_extents[1], phase[1], strides[1])),
            (len(height.taps), len(width.taps)),
            (1, 1),
            (height.step, width.step),
            (height.pad, width.pad),
        )
        taps = np.ascontiguousarray(weights[:, height.taps][:, :, width.taps])
        return conv_call(node, window, taps, target, Spread(strides, phase, out_extents))


@dataclass(frozen=True)
class _Axis:
    """The part of the kernel that one phase needs along one axis, as a plain convolution."""

    taps: list[int]
    step: int
    pad: int


def _axis(phase: int, kernel: int, stride: int, dilation: int, pad: int) -> _Axis:
    """Output ``o = stride * j + phase`` reads input ``i = (o + pad - k * dilation) / stride`` wherever that is whole.

    With k descending, i ascends from ``j - pad'`` in equal steps.
    """
    taps = [k for k in reversed(range(kernel)) if (phase + pad - k * dilation) % stride == 0]
    first = taps[0] if taps else 0
    return _Axis(taps, dilation // gcd(dilation, stride), (first * dilation - phase - pad) // stride)


def _count(extent: Extent, phase: int, stride: int) -> Extent:
    return maximum(0, ceildiv(extent - phase, stride))


def _kernel_first(weights: np.ndarray, group: int) -> np.ndarray:
    """Weights [C, M / group, k...] as [group, kh, kw, C / group, M / group]."""
    channels, filters, *kernel = weights.shape
    kh, kw = two_axes(kernel, 1)
    return weights.reshape(group, channels // group, filters, kh, kw).transpose(0, 3, 4, 1, 2)
