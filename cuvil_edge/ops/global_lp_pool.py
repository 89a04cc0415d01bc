"""GlobalLpPool: the p-norm over all spatial axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import accumulator, require_float, require_rank, required, sample_array
from cuvil_edge.ops.abs import Abs
from cuvil_edge.ops.pow import Pow
from cuvil_edge.ops.reduce_sum import ReduceSum


@dataclass(frozen=True)
class GlobalLpPool(Op):
    """``y = sum(|x| ** p) ** (1 / p)`` over the spatial axes of x [N, C, *spatial]."""

    p: int = 2

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """Spatial extents become 1."""
        x = required(inputs, 0)
        require_float(x)
        rank = require_rank(x, 2)
        return [TensorType(x.type.dtype, (*x.type.shape[:2], *[1] * (rank - 2)))]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The formula in float64."""
        powers = np.abs(accumulator(x)) ** self.p
        return np.asarray(np.sum(powers, axis=tuple(range(2, x.ndim)), keepdims=True) ** (1 / self.p)).astype(x.dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The formula."""
        x = required(inputs, 0)
        p, root = (builder.constant(np.asarray(n, x.type.dtype.numpy)) for n in (self.p, 1 / self.p))
        powers = builder.add1(Pow(), builder.add1(Abs(), x), p)
        return [builder.add1(Pow(), builder.add1(ReduceSum(tuple(range(2, x.type.rank))), powers), root)]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Some norms."""
        return [Sample(cls(p), (sample_array((2, 3, 5, 4)),), name=f"p_{p}") for p in (1, 2, 3)]
