"""LRN: local response normalization across channels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import product
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import accumulator, require_float, require_rank, required, sample_array
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.average_pool import AveragePool
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.pow import Pow
from cuvil_edge.ops.reshape import Reshape


@dataclass(frozen=True)
class Lrn(Op):
    """``y = x / (bias + alpha / size * s) ** beta``, s the sum of squares over ``size`` channels around each.

    x [N, C, ...]; the window reaches ``floor((size - 1) / 2)`` channels down and ``ceil((size - 1) / 2)`` up, and not
    beyond the channels that there are.
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    bias: float = 1.0

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The type of x."""
        x = required(inputs, 0)
        require_float(x)
        require_rank(x, 2)
        if self.size < 1:
            raise ShapeError("attribute size", expected="at least 1", found=str(self.size))
        return [x.type]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The formula in float64."""
        squares, total = accumulator(x) ** 2, np.zeros(x.shape)
        below, above = (self.size - 1) // 2, self.size // 2
        for channel in range(x.shape[1]):
            total[:, channel] = squares[:, max(0, channel - below) : channel + above + 1].sum(axis=1)
        return (accumulator(x) / (self.bias + self.alpha / self.size * total) ** self.beta).astype(x.dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """An average pool over the channels of [N, 1, C, elements]: zeros around them count, as the formula wants."""
        x = required(inputs, 0)
        batch, channels, *spatial = x.type.shape
        squares = builder.add1(Mul(), x, x)
        plane = builder.add1(Reshape((batch, 1, channels, product(tuple(spatial)))), squares)
        pads = ((self.size - 1) // 2, 0, self.size // 2, 0)
        pool = AveragePool((self.size, 1), (1, 1), pads, (1, 1), count_include_pad=True)
        mean = builder.add1(Reshape(x.type.shape), builder.add1(pool, plane))
        alpha, bias, beta = (
            builder.constant(np.asarray(n, x.type.dtype.numpy)) for n in (self.alpha, self.bias, self.beta)
        )
        base = builder.add1(Add(), builder.add1(Mul(), mean, alpha), bias)
        return [builder.add1(Div(), x, builder.add1(Pow(), base, beta))]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Odd and even windows, wider than the channels, every attribute."""
        x = sample_array((2, 5, 3, 4))
        ops = (cls(3), cls(4, 0.5, 0.5, 2.0), cls(1), cls(9))
        samples = [Sample(op, (x,), name=f"size_{op.size}") for op in ops]
        return [*samples, Sample(cls(4, 0.5), (sample_array((5, 5, 3, 2)),), name="batch")]
