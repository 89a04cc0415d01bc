"""Gemm: scaled matrix product plus a scaled matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Cost, Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import (
    accumulator,
    optional,
    require_broadcast_to,
    require_rank,
    require_same_dtype,
    required,
    sample_array,
)
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.ops.mul import Mul


@dataclass(frozen=True)
class Gemm(Op):
    """``y = alpha * A @ B + beta * C``: a [M, K], b [K, N] (transposed where said), c broadcasts to [M, N] or None."""

    alpha: float = 1.0
    beta: float = 1.0
    transpose_a: bool = False
    transpose_b: bool = False

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """[M, N]."""
        a, b, c = required(inputs, 0), required(inputs, 1), optional(inputs, 2)
        require_same_dtype(a, b, c)
        require_rank(a, 2, 2)
        require_rank(b, 2, 2)
        [result] = Matmul(self.transpose_a, self.transpose_b).infer([a, b], checks)
        if c is not None:
            require_broadcast_to(c, result.shape, checks, "C")
        return [result]

    def reference(self, a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None) -> np.ndarray:
        """The formula in float64."""
        left, right = a.T if self.transpose_a else a, b.T if self.transpose_b else b
        y = self.alpha * (accumulator(left) @ accumulator(right))
        return np.asarray(y if c is None else y + self.beta * accumulator(c)).astype(a.dtype)

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """That of the matrix product."""
        return Matmul(self.transpose_a, self.transpose_b).cost(inputs, outputs)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """A matrix product whose bias is C where C is one row; factors go into constants where they can."""
        a, b, c = required(inputs, 0), required(inputs, 1), optional(inputs, 2)
        b = _scaled(builder, b, self.alpha)
        matmul = Matmul(self.transpose_a, self.transpose_b)
        if c is None:
            return [builder.add1(matmul, a, b)]
        columns = b.type.shape[0 if self.transpose_b else 1]
        c = _scaled(builder, c, self.beta)
        if c.constant is not None and c.type.shape == (1, columns):
            c = builder.constant(c.constant.reshape(-1), f"{c.name}.row")
        if c.type.shape == (columns,):
            return [builder.add1(matmul, a, b, c)]
        return [builder.add1(Add(), builder.add1(matmul, a, b), c)]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Factors, transposes, every way that C broadcasts."""
        a, b = sample_array((4, 5)), sample_array((5, 7))
        samples = [Sample(cls(), (a, b), name="no_c")]
        for shape in ((7,), (1, 7), (4, 1), (4, 7), (), (1,)):
            samples.append(Sample(cls(0.5, 2.0), (a, b, sample_array(shape, 1)), name=f"c_{shape}"))
            samples.append(Sample(cls(), (a, b, sample_array(shape, 1)), (1, 2), f"weights_c_{shape}"))
        swapped = (np.ascontiguousarray(a.T), np.ascontiguousarray(b.T), sample_array((7,)))
        return [*samples, Sample(cls(0.25, 0.5, True, True), swapped, (1, 2), "transposed")]


def _scaled(builder: GraphBuilder, value: Value, factor: float) -> Value:
    if factor == 1.0:
        return value
    scale = np.asarray(factor, value.type.dtype.numpy)
    if value.constant is not None:
        return builder.constant(value.constant * scale, f"{value.name}.scaled")
    return builder.add1(Mul(), value, builder.constant(scale))
