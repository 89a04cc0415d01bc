"""RMSNormalization: each row scaled by its own root mean square."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import accumulator, check_axis, require_broadcast_to, require_float, required, sample_array
from cuvil_edge.ops._statistics import add_root_mean_square
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.mul import Mul


@dataclass(frozen=True)
class RmsNormalization(Op):
    """``y = x / sqrt(mean(x ** 2) + epsilon) * scale``, the mean over the axes from ``axis`` on.

    Inputs: x, scale, which broadcasts to x.
    """

    axis: int
    epsilon: float = 1e-5

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The type of x."""
        x, scale = required(inputs, 0), required(inputs, 1)
        require_float(x, scale)
        check_axis(self.axis, x.type.rank)
        require_broadcast_to(scale, x.type.shape, checks, "scale")
        return [x.type]

    def reference(self, x: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The formula in float64."""
        x64, axes = accumulator(x), tuple(range(self.axis, x.ndim))
        with np.errstate(all="ignore"):
            return np.asarray(x64 / np.sqrt(np.mean(x64**2, axis=axes, keepdims=True) + self.epsilon) * scale).astype(
                x.dtype
            )

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The formula."""
        x, scale = required(inputs, 0), required(inputs, 1)
        root = add_root_mean_square(builder, x, tuple(range(self.axis, x.type.rank)), self.epsilon)
        return [builder.add1(Mul(), builder.add1(Div(), x, root), scale)]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Each axis, a scale that broadcasts, large epsilon."""
        x = sample_array((3, 5, 7))
        samples = [Sample(cls(axis), (x, sample_array(x.shape[axis:], 1)), (1,), f"axis_{axis}") for axis in range(3)]
        return [*samples, Sample(cls(1, 0.1), (x, sample_array((7,), 1)), (1,), "broadcast")]
