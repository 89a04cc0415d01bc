"""conv_transpose: one convolution for each phase of the strides (``csrc/kernels/conv/conv.h``)."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from cuvil_edge.ir.dim import Extent, bounds, ceildiv, maximum
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.conv_call import Filters, Spread, Window, conv_call, refuse_conv, two_axes
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
        return [self._phase(node, (h, w), target) for h in range(strides[0]) for w in range(strides[1])]

    @staticmethod
    def _phase(node: Node, phase: tuple[int, int], target: Target) -> KernelCall:
        """Output pixels ``stride * j + phase`` for all j."""
        op, x = node.op_as(ConvTranspose), node.operand(0)
        strides, dilations = two_axes(op.strides, 1), two_axes(op.dilations, 1)
        pads = two_axes([pad for pad in op.pads[: x.type.rank - 2] if isinstance(pad, int)], 0)
        out_extents = two_axes(node.output.type.shape[1:-1], 1)
        kernel = two_axes([bounds(extent)[0] for extent in node.operand(1).type.shape[2:]], 1)
        height, width = (_axis(phase[i], kernel[i], strides[i], dilations[i], pads[i]) for i in range(2))
        window = Window(
            two_axes(x.type.shape[1:-1], 1),
            (_count(out_extents[0], phase[0], strides[0]), _count(out_extents[1], phase[1], strides[1])),
            (len(height.taps), len(width.taps)),
            (1, 1),
            (height.step, width.step),
            (height.pad, width.pad),
        )
        weights = Filters.of(node.operand(1), lambda whole: _kernel_first(whole, op.group)[:, height.cut, width.cut])
        return conv_call(node, window, weights, target, Spread(strides, phase, out_extents))


@dataclass(frozen=True)
class _Axis:
    """The part of the kernel that one phase needs along one axis, as a plain convolution."""

    taps: list[int]
    step: int
    pad: int

    @property
    def cut(self) -> slice:
        """The taps, which are equally far apart and descend, as a slice."""
        if not self.taps:
            return slice(0, 0)
        step = self.taps[1] - self.taps[0] if len(self.taps) > 1 else -1
        stop = self.taps[-1] + step
        return slice(self.taps[0], stop if stop >= 0 else None, step)


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
