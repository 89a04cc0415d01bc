"""InstanceNormalization: each channel of each picture shifted and scaled by its own statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import accumulator, require_float, require_rank, require_shape, required, sample_array
from cuvil_edge.ops._statistics import add_normalized, normalized
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.reshape import Reshape


@dataclass(frozen=True)
class InstanceNormalization(Op):
    """``y = (x - mean) / sqrt(variance + epsilon) * scale + bias``, statistics over the spatial axes.

    Inputs: x [N, C, *spatial], scale [C], bias [C].
    """

    epsilon: float = 1e-5

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The type of x."""
        x = required(inputs, 0)
        require_float(*inputs)
        require_rank(x, 3)
        for index, what in ((1, "scale"), (2, "bias")):
            require_shape(required(inputs, index), [x.type.shape[1]], checks, what)
        return [x.type]

    def reference(self, x: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """The formula in float64."""
        column, axes = (-1, *[1] * (x.ndim - 2)), tuple(range(2, x.ndim))
        y = normalized(accumulator(x), axes, self.epsilon) * scale.reshape(column) + bias.reshape(column)
        return np.asarray(y).astype(x.dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The formula."""
        x, scale, bias = (required(inputs, index) for index in range(3))
        column = Reshape((x.type.shape[1], *[1] * (x.type.rank - 2)))
        y = add_normalized(builder, x, tuple(range(2, x.type.rank)), self.epsilon)
        scaled = builder.add1(Mul(), y, builder.add1(column, scale))
        return [builder.add1(Add(), scaled, builder.add1(column, bias))]

    @classmethod
    def samples(cls) -> list[Sample]:
        """1 to 3 spatial axes, large epsilon."""
        samples = []
        for shape in ((2, 5, 7), (2, 3, 4, 5), (1, 3, 2, 3, 4)):
            inputs = (sample_array(shape), sample_array(shape[1:2], 1), sample_array(shape[1:2], 2))
            samples.append(Sample(cls(), inputs, (1, 2), str(shape)))
        return [*samples, Sample(cls(0.1), inputs, (1, 2), "epsilon")]
