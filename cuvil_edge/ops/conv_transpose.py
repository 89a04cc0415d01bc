"""ConvTranspose: transposed convolution over any number of spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    restore_layout,
    split_layout,
    windows,
)


@dataclass(frozen=True)
class ConvTranspose(SpatialOp, EpilogueOp):
    """Each input element adds ``x * w`` to a window of the output: the gradient of Conv with respect to its data.

    ``y[n, m, o * stride + k * dilation - pad] += x[n, c, o] * w[c, m, k]`` in each group, plus ``bias[m]``; the extent
    is ``stride * (in - 1) + dilation * (kernel - 1) + 1 + output_padding - pad_begin - pad_end``.

    Inputs: x [N, C, *spatial] (or [N, *spatial, C] with ``channels_last``), w [C, M / group, *kernel] in both layouts,
    bias [M] or None, then the operands of the epilogue, which broadcast to the output.

    Attributes:
        strides, dilations, output_padding: one for each spatial axis.
        pads: cut off before each spatial axis, then after each; may depend on symbols.
    """

    strides: tuple[int, ...]
    pads: tuple[Extent, ...]
    dilations: tuple[int, ...]
    output_padding: tuple[int, ...]
    group: int = 1

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The output's extents follow from the formula on each spatial axis."""
        x, w, bias = required(inputs, 0), required(inputs, 1), optional(inputs, 2)
        require_float(x, w, bias)
        rank = require_rank(x, 3)
        require_rank(w, rank, rank)
        batch, channels, spatial = split_layout(x.type.shape, self.channels_last)
        depth, filters, *kernel = w.type.shape
        check_window(rank - 2, kernel, self.strides, self.pads, self.dilations)
        if len(self.output_padding) != rank - 2:
            raise ShapeError("output_padding does not have one entry for each spatial axis")
        if self.group < 1 or (isinstance(depth, int) and depth % self.group):
            raise ShapeError(
                "channels do not divide into groups", expected=f"a multiple of {self.group}", found=str(depth)
            )
        checks.equal(channels, depth, f"x has {channels} channels, the weights need {depth}")
        if bias is not None:
            require_shape(bias, [filters * self.group], checks, "bias")
        out = self._out_extents(spatial, kernel)
        for extent in out:
            checks.at_least(extent, 0, "pads cut off more than there is")
        result = TensorType(x.type.dtype, join_layout(batch, filters * self.group, out, self.channels_last))
        return [with_epilogue(result, self.epilogue, inputs[3:], checks)]

    def _out_extents(self, spatial: Sequence[Extent], kernel: Sequence[Extent]) -> list[Extent]:
        rank = len(spatial)
        return [
            self.strides[axis] * (spatial[axis] - 1)
            + self.dilations[axis] * (kernel[axis] - 1)
            + 1
            + self.output_padding[axis]
            - self.pads[axis]
            - self.pads[rank + axis]
            for axis in range(rank)
        ]

    def reference(
        self, x: np.ndarray, w: np.ndarray, bias: np.ndarray | None = None, *operands: np.ndarray | None
    ) -> np.ndarray:
        """One matrix product for each position in the kernel, added into the uncut output in float64."""
        x64 = channels_first(accumulator(x), self.channels_last)
        spatial, kernel, groups = x64.shape[2:], w.shape[2:], self.group
        batch, depth, filters = x64.shape[0], w.shape[0] // groups, w.shape[1]
        out, pads = ints(self._out_extents(spatial, kernel)), ints(self.pads)
        rank = len(out)
        whole = [out[axis] + pads[axis] + pads[rank + axis] for axis in range(rank)]
        y = np.zeros((batch, groups * filters, *whole))
        columns = x64.reshape(batch, groups, depth, int(np.prod(spatial)))
        w64 = np.moveaxis(accumulator(w).reshape(groups, depth, filters, *kernel), (0, 2, 1), (-3, -2, -1))
        for position, part in windows(y, kernel, self.strides, self.dilations, spatial):
            part += (w64[position] @ columns).reshape(part.shape)
        cut = tuple(slice(pads[axis], pads[axis] + out[axis]) for axis in range(rank))
        y = y[(slice(None), slice(None), *cut)]
        if bias is not None:
            y = y + accumulator(bias).reshape(-1, *[1] * rank)
        result = restore_layout(y.astype(x.dtype), self.channels_last)
        return apply_epilogue(result, self.epilogue, operands)

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """Two flops for each multiply-add: each input element meets each of its filters' weights."""
        traffic, x, w = super().cost(inputs, outputs), inputs[0], inputs[1]
        assert x is not None
        assert w is not None
        flops = x.elements * 2 * product(w.shape[1:]) + outputs[0].elements * epilogue_flops(self.epilogue)
        return Cost(flops, traffic.bytes_read, traffic.bytes_written)

    @classmethod
    def samples(cls) -> list[Sample]:
        """Strides, pads, dilation, output padding, groups, 1 to 3 axes, both layouts, epilogue."""
        one, none = (1, 1), (0, 0)
        shapes = [
            ("3x3", cls(one, (0,) * 4, one, none), (2, 3, 5, 7), (3, 6, 3, 3)),
            ("stride_2", cls((2, 2), (0,) * 4, one, none), (1, 5, 4, 6), (5, 3, 2, 2)),
            ("stride_pads", cls((2, 3), (1, 0, 1, 2), one, none), (1, 4, 5, 4), (4, 5, 3, 4)),
            ("output_padding", cls((2, 2), (1, 1, 1, 1), one, (1, 1)), (1, 4, 5, 4), (4, 5, 3, 3)),
            ("dilation", cls(one, (1, 2, 1, 2), (2, 3), none), (1, 4, 5, 6), (4, 3, 3, 3)),
            ("group", cls((2, 2), (0,) * 4, one, none, 2), (2, 6, 4, 3), (6, 4, 3, 3)),
            ("depthwise", cls((2, 2), (1, 1, 1, 1), one, none, 5), (1, 5, 4, 3), (5, 1, 4, 4)),
            ("gap", cls((3, 3), (0,) * 4, one, none), (1, 2, 3, 3), (2, 3, 2, 2)),
            ("1d", cls((2,), (1, 0), (1,), (0,)), (2, 3, 7), (3, 4, 4)),
            ("3d", cls((1, 2, 1), (0,) * 6, (1, 1, 1), (0, 0, 0)), (1, 2, 3, 2, 3), (2, 3, 2, 2, 2)),
        ]
        samples = []
        for index, (name, op, x_shape, w_shape) in enumerate(shapes):
            bias = sample_array((w_shape[1] * op.group,), index)
            x, w = sample_array(x_shape, index), sample_array(w_shape, index)
            samples.append(Sample(op, (x, w, bias), (1, 2), name))
            last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
            samples.append(Sample(replace(op, channels_last=True), (last, w, None), (1,), f"{name}_channels_last"))
        epilogue = replace(shapes[1][1], channels_last=True, epilogue=sample_epilogue())
        operands = (sample_array((1, 4, 6, 5)), sample_array((5, 3, 2, 2)), sample_array((3,)), sample_array((3,), 1))
        return [*samples, Sample(epilogue, operands, (1, 2), "epilogue")]
