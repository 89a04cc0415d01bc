"""Base of the pools: a window slides over the spatial axes of each channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent, product
from cuvil_edge.ir.op import Cost, Inputs, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import ints, require_rank, required, sample_array
from cuvil_edge.ops._window import SpatialOp, check_window, join_layout, split_layout, window_extents


@dataclass(frozen=True)
class Pool(SpatialOp):
    """x [N, C, *spatial], or [N, *spatial, C] with ``channels_last``; y likewise.

    Attributes:
        kernel, strides, dilations: one for each spatial axis.
        pads: before each spatial axis, then after each; may depend on symbols. Padding is not data.
        ceil_mode: output extents are rounded up, so that the last window may reach over the end.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[Extent, ...]
    dilations: tuple[int, ...]
    ceil_mode: bool = False

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The output's extents follow from the window formula on each spatial axis."""
        x = required(inputs, 0)
        rank = require_rank(x, 3)
        batch, channels, spatial = split_layout(x.type.shape, self.channels_last)
        check_window(rank - 2, self.kernel, self.strides, self.pads, self.dilations)
        out = window_extents(spatial, self.kernel, self.strides, self.pads, self.dilations, checks, self.ceil_mode)
        return [TensorType(x.type.dtype, join_layout(batch, channels, out, self.channels_last))]

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """One flop for each element of each window."""
        traffic = super().cost(inputs, outputs)
        return Cost(outputs[0].elements * product(self.kernel), traffic.bytes_read, traffic.bytes_written)

    def out_extents(self, spatial: Sequence[int]) -> tuple[int, ...]:
        """Static output extents of unpadded spatial extents."""
        ceil = self.ceil_mode
        return ints(window_extents(spatial, self.kernel, self.strides, self.pads, self.dilations, Checks(), ceil))

    def pads_for(self, spatial: Sequence[int], out: Sequence[int]) -> tuple[int, ...]:
        """Pads that let every window lie inside the padded data, also those that reach over the end."""
        rank, pads = len(spatial), list(ints(self.pads))
        for axis in range(rank):
            reach = (out[axis] - 1) * self.strides[axis] + self.dilations[axis] * (self.kernel[axis] - 1) + 1
            pads[rank + axis] = max(pads[rank + axis], reach - spatial[axis] - pads[axis])
        return tuple(pads)

    @classmethod
    def geometry_samples(cls) -> list[Sample]:
        """Kernel sizes, strides, uneven pads, dilation, rounding up, 1 to 3 axes, both layouts."""
        shapes = [
            ("2x2", cls((2, 2), (2, 2), (0,) * 4, (1, 1)), (2, 3, 8, 6)),
            ("3x3_pads", cls((3, 3), (2, 2), (1, 1, 1, 1), (1, 1)), (1, 17, 9, 12)),
            ("uneven_pads", cls((3, 4), (1, 2), (0, 2, 2, 1), (1, 1)), (1, 5, 7, 10)),
            ("dilation", cls((2, 3), (1, 1), (1, 2, 1, 2), (3, 2)), (2, 3, 9, 8)),
            ("ceil", cls((3, 3), (2, 2), (0,) * 4, (1, 1), True), (1, 4, 8, 6)),
            ("ceil_pads", cls((2, 2), (2, 3), (1, 0, 1, 0), (1, 1), True), (1, 4, 7, 10)),
            ("1d", cls((4,), (3,), (1, 2), (1,)), (2, 3, 19)),
            ("3d", cls((2, 2, 2), (1, 2, 1), (0, 1, 0, 1, 0, 1), (1, 1, 1)), (1, 2, 4, 5, 6)),
            ("5x5_same", cls((5, 5), (1, 1), (2, 2, 2, 2), (1, 1)), (1, 8, 6, 7)),
        ]
        samples = []
        for name, op, shape in shapes:
            x = sample_array(shape)
            samples.append(Sample(op, (x,), name=name))
            last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
            samples.append(Sample(replace(op, channels_last=True), (last,), name=f"{name}_channels_last"))
        return samples
