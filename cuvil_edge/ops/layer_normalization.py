"""LayerNormalization: each row shifted and scaled by its own statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.op import Cost, Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import (
    accumulator,
    check_axis,
    optional,
    require_float,
    require_shape,
    required,
    sample_array,
)


@dataclass(frozen=True)
class LayerNormalization(Op):
    """``y = (x - mean) / sqrt(variance + epsilon) * scale + bias``, statistics over the axes from ``axis`` on.

    Inputs: x, scale and bias (or None) of the shape of those axes. The variance is the mean of ``(x - mean) ** 2``.
    """

    axis: int
    epsilon: float = 1e-5

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The type of x."""
        x, scale, bias = required(inputs, 0), required(inputs, 1), optional(inputs, 2)
        require_float(x, scale, bias)
        check_axis(self.axis, x.type.rank)
        require_shape(scale, x.type.shape[self.axis :], checks, "scale")
        if bias is not None:
            require_shape(bias, x.type.shape[self.axis :], checks, "bias")
        return [x.type]

    def reference(self, x: np.ndarray, scale: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
        """The formula in float64."""
        x64, axes = accumulator(x), tuple(range(self.axis, x.ndim))
        with np.errstate(all="ignore"):
            centred = x64 - np.mean(x64, axis=axes, keepdims=True)
            variance = np.mean(centred**2, axis=axes, keepdims=True)
            y = centred / np.sqrt(variance + self.epsilon) * scale
        return np.asarray(y if bias is None else y + bias).astype(x.dtype)

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """Seven flops an element: sum, difference, square, sum, product, scale, bias."""
        traffic = super().cost(inputs, outputs)
        return Cost(outputs[0].elements * 7, traffic.bytes_read, traffic.bytes_written)

    @classmethod
    def samples(cls) -> list[Sample]:
        """Each axis, with and without bias, long rows, far from zero, large epsilon."""
        samples = []
        for axis in range(3):
            x = sample_array((3, 5, 7))
            scale, bias = sample_array(x.shape[axis:], 1), sample_array(x.shape[axis:], 2)
            samples.append(Sample(cls(axis), (x, scale, bias), (1, 2), f"axis_{axis}"))
            samples.append(Sample(cls(axis, 0.1), (x, scale, None), (1,), f"axis_{axis}_no_bias"))
        row = sample_array((384,), 3)
        samples.append(Sample(cls(1), (sample_array((6, 384)), row, row), (1, 2), "long"))
        samples.append(Sample(cls(1), (sample_array((4, 33)) + 100, row[:33], row[:33]), (1, 2), "far_from_zero"))
        return [*samples, Sample(cls(1), (sample_array((2, 9)), row[:9], row[:9]), name="parameters_at_run_time")]
