"""Conv: convolution (cross-correlation) over any number of spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent, product
from cuvil_edge.ir.op import Cost, Inputs, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._epilogue import EpilogueOp, apply_epilogue, epilogue_flops, sample_epilogue, with_epilogue
from cuvil_edge.ops._inputs import (
    accumulator,
    ints,
    optional,
    require_float,
    require_rank,
    require_shape,
    required,
    sample_array,
)
from cuvil_edge.ops._window import (
    SpatialOp,
    channels_first,
    check_window,
    join_layout,
    pad_spatial,
    restore_layout,
    split_layout,
    window_extents,
    windows,
)


@dataclass(frozen=True)
class Conv(SpatialOp, EpilogueOp):
    """``y[n, m, o] = bias[m] + sum over c, k of x[n, c, o * stride - pad + k * dilation] * w[m, c, k]`` in each group.

    Inputs: x [N, C, *spatial] (or [N, *spatial, C] with ``channels_last``), w [M, C / group, *kernel] in both layouts,
    bias [M] or None, then the operands of the epilogue, which broadcast to the output [N, M, *out] ([N, *out, M]).

    Attributes:
        strides, dilations: one for each spatial axis.
        pads: zeros before each spatial axis, then after each; may depend on symbols.
    """

    strides: tuple[int, ...]
    pads: tuple[Extent, ...]
    dilations: tuple[int, ...]
    group: int = 1

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The output's extents follow from the window formula on each spatial axis."""
        x, w, bias = required(inputs, 0), required(inputs, 1), optional(inputs, 2)
        require_float(x, w, bias)
        rank = require_rank(x, 3)
        require_rank(w, rank, rank)
        batch, channels, spatial = split_layout(x.type.shape, self.channels_last)
        filters, depth, *kernel = w.type.shape
        check_window(rank - 2, kernel, self.strides, self.pads, self.dilations)
        if self.group < 1 or (isinstance(filters, int) and filters % self.group):
            raise ShapeError(
                "filters do not divide into groups", expected=f"a multiple of {self.group}", found=str(filters)
            )
        checks.equal(channels, depth * self.group, f"x has {channels} channels, the weights need {depth * self.group}")
        if bias is not None:
            require_shape(bias, [filters], checks, "bias")
        out = window_extents(spatial, kernel, self.strides, self.pads, self.dilations, checks)
        result = TensorType(x.type.dtype, join_layout(batch, filters, out, self.channels_last))
        return [with_epilogue(result, self.epilogue, inputs[3:], checks)]

    def reference(
        self, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None = None, *operands: np.ndarray | None
    ) -> np.ndarray:
        """One matrix product for each position in the kernel, summed in float64."""
        x64 = pad_spatial(channels_first(accumulator(x), self.channels_last), ints(self.pads), 0.0)
        kernel, groups = w.shape[2:], self.group
        out = [
            (n - d * (k - 1) - 1) // s + 1
            for n, k, s, d in zip(x64.shape[2:], kernel, self.strides, self.dilations, strict=True)
        ]
        batch, filters = x64.shape[0], w.shape[0]
        w64 = accumulator(w).reshape(groups, filters // groups, w.shape[1], *kernel)
        w64 = np.moveaxis(w64, (0, 1, 2), (-3, -2, -1))
        y = np.zeros((batch, groups, filters // groups, prod(out)))
        for position, part in windows(x64, kernel, self.strides, self.dilations, out):
            y += w64[position] @ part.reshape(batch, groups, w.shape[1], prod(out))
        y = y.reshape(batch, filters, *out)
        if bias is not None:
            y += accumulator(bias).reshape(-1, *[1] * len(out))
        result = restore_layout(y.astype(x.dtype), self.channels_last)
        return apply_epilogue(result, self.epilogue, operands)

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """Two flops for each multiply-add."""
        traffic, weights = super().cost(inputs, outputs), inputs[1]
        assert weights is not None
        flops = outputs[0].elements * (2 * product(weights.shape[1:]) + epilogue_flops(self.epilogue))
        return Cost(flops, traffic.bytes_read, traffic.bytes_written)

    @classmethod
    def samples(cls) -> list[Sample]:
        """Kernel sizes, strides, uneven pads, dilation, groups, depth-wise, 1 to 3 axes, both layouts, epilogue."""
        shapes = [
            ("3x3", cls((1, 1), (1, 1, 1, 1), (1, 1)), (2, 5, 9, 7), (6, 5, 3, 3)),
            ("1x1", cls((1, 1), (0,) * 4, (1, 1)), (1, 17, 5, 3), (33, 17, 1, 1)),
            ("1x1_stride", cls((2, 2), (0,) * 4, (1, 1)), (1, 8, 7, 6), (9, 8, 1, 1)),
            ("stride_uneven_pads", cls((2, 3), (0, 1, 2, 3), (1, 1)), (1, 3, 11, 13), (16, 3, 3, 5)),
            ("dilation", cls((1, 2), (2, 2, 2, 2), (2, 3)), (1, 4, 12, 15), (5, 4, 3, 3)),
            ("group", cls((1, 1), (1, 1, 1, 1), (1, 1), 2), (2, 6, 5, 5), (8, 3, 3, 3)),
            ("depthwise", cls((2, 2), (1, 1, 1, 1), (1, 1), 19), (2, 19, 9, 8), (19, 1, 3, 3)),
            ("depthwise_multiplier", cls((1, 1), (2, 2, 2, 2), (1, 1), 6), (1, 6, 6, 7), (12, 1, 5, 5)),
            ("1d", cls((2,), (3, 1), (1,)), (2, 5, 17), (7, 5, 4)),
            ("3d", cls((1, 2, 1), (1, 0, 1, 1, 0, 1), (1, 1, 1)), (1, 3, 4, 6, 5), (4, 3, 3, 2, 3)),
            ("whole_kernel", cls((1, 1), (0,) * 4, (1, 1)), (3, 5, 4, 4), (6, 5, 4, 4)),
            ("empty_batch", cls((1, 1), (0,) * 4, (1, 1)), (0, 3, 4, 4), (2, 3, 3, 3)),
        ]
        samples = []
        for index, (name, op, x_shape, w_shape) in enumerate(shapes):
            x, w, bias = sample_array(x_shape, index), sample_array(w_shape, index), sample_array(w_shape[:1], index)
            samples.append(Sample(op, (x, w, bias), (1, 2), name))
            last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
            samples.append(Sample(replace(op, channels_last=True), (last, w, None), (1,), f"{name}_channels_last"))
        return [*samples, *cls._epilogue_samples()]

    @classmethod
    def _epilogue_samples(cls) -> list[Sample]:
        x, w, bias = sample_array((2, 9, 7, 5)), sample_array((6, 5, 3, 3)), sample_array((6,))
        op = cls((1, 1), (1, 1, 1, 1), (1, 1), channels_last=True, epilogue=sample_epilogue())
        return [
            Sample(op, (x, w, bias, sample_array((2, 9, 7, 6), 1)), (1, 2), "epilogue_residual"),
            Sample(op, (x, w, None, sample_array((6,), 1)), (1,), "epilogue_broadcast"),
        ]
