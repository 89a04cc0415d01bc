"""LpNormalization: vectors of length 1 along an axis."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.errors import UnsupportedError
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import accumulator, check_axis, require_float, required, sample_array
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.equal import Equal
from cuvil_edge.ops.reduce_l1 import ReduceL1
from cuvil_edge.ops.reduce_l2 import ReduceL2
from cuvil_edge.ops.where import Where


@dataclass(frozen=True)
class LpNormalization(Op):
    """``y = x / norm`` along ``axis`` (in ``[0, rank)``); ``p`` is 1 (sum of magnitudes) or 2 (Euclidean).

    A vector of zeros stays zero.
    """

    axis: int
    p: int = 2

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The type of x."""
        x = required(inputs, 0)
        require_float(x)
        check_axis(self.axis, x.type.rank)
        if self.p not in (1, 2):
            raise UnsupportedError("attribute p", expected="1 or 2", found=str(self.p))
        return [x.type]

    def _norm(self) -> ReduceL1 | ReduceL2:
        return ReduceL1((self.axis,)) if self.p == 1 else ReduceL2((self.axis,))

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The formula in float64."""
        norm = self._norm().reference(accumulator(x))
        return (accumulator(x) / np.where(norm == 0, 1, norm)).astype(x.dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The formula."""
        x = required(inputs, 0)
        norm = builder.add1(self._norm(), x)
        zero, one = (builder.constant(np.asarray(number, x.type.dtype.numpy)) for number in (0, 1))
        return [builder.add1(Div(), x, builder.add1(Where(), builder.add1(Equal(), norm, zero), one, norm))]

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The axis where it is after the permutation."""
        return replace(self, axis=permutation.index(self.axis))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Both norms along every axis; a vector of zeros."""
        x = sample_array((3, 5, 7))
        samples = [Sample(cls(axis, p), (x,), name=f"axis_{axis}_l{p}") for axis in range(3) for p in (1, 2)]
        return [*samples, Sample(cls(1), (np.diag(np.array([1, 0, -2], np.float32)),), name="zeros")]
