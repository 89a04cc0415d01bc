"""BatchNormalization (inference): each channel shifted and scaled by its statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import accumulator, require_float, require_rank, require_shape, required, sample_array
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.sqrt import Sqrt
from cuvil_edge.ops.sub import Sub


@dataclass(frozen=True)
class BatchNormalization(Op):
    """``y = (x - mean) / sqrt(variance + epsilon) * scale + bias`` for each channel.

    Inputs: x [N, C, ...], then scale, bias, mean and variance, each [C].
    """

    epsilon: float = 1e-5

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The type of x."""
        x = required(inputs, 0)
        require_float(*inputs)
        require_rank(x, 2)
        for index, what in enumerate(("scale", "bias", "mean", "variance"), 1):
            require_shape(required(inputs, index), [x.type.shape[1]], checks, what)
        return [x.type]

    def reference(
        self, x: np.ndarray, scale: np.ndarray, bias: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> np.ndarray:
        """The formula in float64."""
        column = (-1, *[1] * (x.ndim - 2))
        s, b, m, v = (accumulator(part).reshape(column) for part in (scale, bias, mean, variance))
        with np.errstate(all="ignore"):
            return np.asarray((x - m) / np.sqrt(v + self.epsilon) * s + b).astype(x.dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """A multiplication and an addition with constants; with operands that are not constant, the whole formula."""
        x, *parameters = (required(inputs, index) for index in range(5))
        if all(value.constant is not None for value in parameters):
            return self._decompose_constant(builder, x, [np.asarray(value.constant) for value in parameters])
        shape = (x.type.shape[1], *[1] * (x.type.rank - 2))
        scale, bias, mean, variance = (builder.add1(Reshape(shape), value) for value in parameters)
        epsilon = builder.constant(np.asarray(self.epsilon, x.type.dtype.numpy))
        deviation = builder.add1(Sqrt(), builder.add1(Add(), variance, epsilon))
        factor = builder.add1(Div(), scale, deviation)
        return [builder.add1(Add(), builder.add1(Mul(), builder.add1(Sub(), x, mean), factor), bias)]

    def _decompose_constant(self, builder: GraphBuilder, x: Value, parameters: list[np.ndarray]) -> list[Value]:
        scale, bias, mean, variance = (accumulator(array) for array in parameters)
        with np.errstate(all="ignore"):
            factor = scale / np.sqrt(variance + self.epsilon)
            offset = bias - mean * factor
        column, dtype = (-1, *[1] * (x.type.rank - 2)), x.type.dtype.numpy
        scaled = builder.add1(Mul(), x, builder.constant(factor.astype(dtype).reshape(column), f"{builder.name}.scale"))
        return [
            builder.add1(Add(), scaled, builder.constant(offset.astype(dtype).reshape(column), f"{builder.name}.bias"))
        ]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Ranks 2 to 5, large epsilon, constant and run-time statistics."""
        samples = []
        for shape in ((3, 5), (2, 5, 7), (2, 5, 4, 3), (1, 3, 2, 3, 4)):
            scale, bias, mean, spread = (sample_array(shape[1:2], seed) for seed in range(4))
            inputs = (sample_array(shape), scale, bias, mean, np.abs(spread))
            samples.append(Sample(cls(), inputs, (1, 2, 3, 4), f"rank_{len(shape)}"))
        samples.append(Sample(cls(0.1), inputs, (1, 2, 3, 4), "epsilon"))
        return [*samples, Sample(cls(), inputs, name="statistics_at_run_time")]
