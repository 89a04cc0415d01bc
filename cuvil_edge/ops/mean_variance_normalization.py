"""MeanVarianceNormalization: mean 0 and variance 1 over chosen axes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import accumulator, check_axis, require_float, required, sample_array
from cuvil_edge.ops._reduce import moved_axes
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.reduce_mean import ReduceMean
from cuvil_edge.ops.sqrt import Sqrt
from cuvil_edge.ops.sub import Sub

_EPSILON = 1e-9


@dataclass(frozen=True)
class MeanVarianceNormalization(Op):
    """``y = (x - mean) / (sqrt(variance) + 1e-9)`` over ``axes`` (in ``[0, rank)``)."""

    axes: tuple[int, ...]

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The type of x."""
        x = required(inputs, 0)
        require_float(x)
        for axis in self.axes:
            check_axis(axis, x.type.rank)
        return [x.type]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The formula in float64."""
        x64 = accumulator(x)
        with np.errstate(all="ignore"):
            centred = x64 - np.mean(x64, axis=self.axes, keepdims=True)
            spread = np.sqrt(np.mean(centred**2, axis=self.axes, keepdims=True))
            return np.asarray(centred / (spread + _EPSILON)).astype(x.dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The formula."""
        x = required(inputs, 0)
        centred = builder.add1(Sub(), x, builder.add1(ReduceMean(self.axes), x))
        spread = builder.add1(Sqrt(), builder.add1(ReduceMean(self.axes), builder.add1(Mul(), centred, centred)))
        epsilon = builder.constant(np.asarray(_EPSILON, x.type.dtype.numpy))
        return [builder.add1(Div(), centred, builder.add1(Add(), spread, epsilon))]

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The axes where they are after the permutation."""
        return replace(self, axes=moved_axes(self.axes, permutation))

    @classmethod
    def samples(cls) -> list[Sample]:
        """The usual axes, one, all."""
        x = sample_array((3, 4, 5, 6))
        return [Sample(cls(axes), (x,), name=str(axes)) for axes in ((0, 2, 3), (1,), (0, 1, 2, 3))]
