"""GroupNormalization: each group of channels of each picture shifted and scaled by its own statistics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
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
class GroupNormalization(Op):
    """``y = (x - mean) / sqrt(variance + epsilon) * scale + bias``, statistics over a group's channels and positions.

    Inputs: x [N, C, *spatial], scale [C], bias [C]. C is a multiple of ``num_groups``.
    """

    num_groups: int
    epsilon: float = 1e-5

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The type of x."""
        x = required(inputs, 0)
        require_float(*inputs)
        require_rank(x, 3)
        channels = x.type.shape[1]
        if self.num_groups < 1:
            raise ShapeError("attribute num_groups", expected="at least 1", found=str(self.num_groups))
        whole = channels // self.num_groups * self.num_groups
        checks.equal(channels, whole, f"channels of {x.type} do not divide into {self.num_groups} groups")
        for index, what in ((1, "scale"), (2, "bias")):
            require_shape(required(inputs, index), [channels], checks, what)
        return [x.type]

    def reference(self, x: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """The formula in float64."""
        column = (-1, *[1] * (x.ndim - 2))
        grouped = accumulator(x).reshape(x.shape[0], self.num_groups, x.shape[1] // self.num_groups, *x.shape[2:])
        y = normalized(grouped, tuple(range(2, grouped.ndim)), self.epsilon).reshape(x.shape)
        return np.asarray(y * scale.reshape(column) + bias.reshape(column)).astype(x.dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The formula on [N, groups, channels of a group, *spatial]."""
        x, scale, bias = (required(inputs, index) for index in range(3))
        batch, channels, *spatial = x.type.shape
        column = Reshape((channels, *[1] * len(spatial)))
        grouped = builder.add1(Reshape((batch, self.num_groups, channels // self.num_groups, *spatial)), x)
        y = add_normalized(builder, grouped, tuple(range(2, grouped.type.rank)), self.epsilon)
        scaled = builder.add1(Mul(), builder.add1(Reshape(x.type.shape), y), builder.add1(column, scale))
        return [builder.add1(Add(), scaled, builder.add1(column, bias))]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Some groups, one, as many as channels."""
        samples = []
        for groups in (1, 2, 3, 6):
            inputs = (sample_array((2, 6, 4, 5)), sample_array((6,), 1), sample_array((6,), 2))
            samples.append(Sample(cls(groups), inputs, (1, 2), f"groups_{groups}"))
        short = (sample_array((1, 4, 7)), sample_array((4,), 1), sample_array((4,), 2))
        return [*samples, Sample(cls(2, 0.1), short, (1, 2), "epsilon")]
