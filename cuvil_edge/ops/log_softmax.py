"""LogSoftmax: logarithm of the softmax."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs
from cuvil_edge.ops._inputs import accumulator, required
from cuvil_edge.ops.exp import Exp
from cuvil_edge.ops.log import Log
from cuvil_edge.ops.reduce_max import ReduceMax
from cuvil_edge.ops.reduce_sum import ReduceSum
from cuvil_edge.ops.softmax import Softmax
from cuvil_edge.ops.sub import Sub


@dataclass(frozen=True)
class LogSoftmax(Softmax):
    """``y = z - log(sum(e ** z))`` along ``axis`` (in ``[0, rank)``), where ``z = x - max(x)``."""

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The formula in float64."""
        if x.size == 0:
            return x
        with np.errstate(all="ignore"):
            shifted = accumulator(x) - np.max(accumulator(x), axis=self.axis, keepdims=True)
            return np.asarray(shifted - np.log(np.sum(np.exp(shifted), axis=self.axis, keepdims=True))).astype(x.dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The formula."""
        x, axes = required(inputs, 0), (self.axis,)
        shifted = builder.add1(Sub(), x, builder.add1(ReduceMax(axes), x))
        total = builder.add1(ReduceSum(axes), builder.add1(Exp(), shifted))
        return [builder.add1(Sub(), shifted, builder.add1(Log(), total))]
