"""Softmax: exponentials that sum to 1 along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.op import Cost, Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import accumulator, check_axis, require_float, required, sample_array


@dataclass(frozen=True)
class Softmax(Op):
    """``y = e ** x / sum(e ** x)`` along ``axis`` (in ``[0, rank)``), computed from ``x - max(x)``."""

    axis: int

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The type of x."""
        x = required(inputs, 0)
        require_float(x)
        check_axis(self.axis, x.type.rank)
        return [x.type]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The formula in float64; NaN for a row of -inf."""
        if x.size == 0:
            return x
        with np.errstate(all="ignore"):
            powers = np.exp(accumulator(x) - np.max(accumulator(x), axis=self.axis, keepdims=True))
            return np.asarray(powers / np.sum(powers, axis=self.axis, keepdims=True)).astype(x.dtype)

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """Five flops an element: maximum, difference, exponential, sum, product."""
        traffic = super().cost(inputs, outputs)
        return Cost(outputs[0].elements * 5, traffic.bytes_read, traffic.bytes_written)

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The axis where it is after the permutation."""
        return replace(self, axis=permutation.index(self.axis))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Every axis, long and short rows, large magnitudes, masked elements, no rows."""
        x = sample_array((3, 5, 7))
        masked = sample_array((4, 9))
        masked[:, ::2] = -np.inf
        return [
            *(Sample(cls(axis), (x,), name=f"axis_{axis}") for axis in range(3)),
            Sample(cls(1), (sample_array((2, 1031)),), name="long"),
            Sample(cls(1), (sample_array((5, 1)),), name="one"),
            Sample(cls(1), (sample_array((4, 33)) * 1000,), name="large"),
            Sample(cls(1), (masked,), name="masked"),
            Sample(cls(1), (sample_array((0, 3)),), name="no_rows"),
        ]
