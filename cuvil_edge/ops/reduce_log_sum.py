"""ReduceLogSum: logarithm of the sum over axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs
from cuvil_edge.ops._elementwise import FLOATS
from cuvil_edge.ops._inputs import accumulator, required
from cuvil_edge.ops._reduce import Reduce
from cuvil_edge.ops.log import Log
from cuvil_edge.ops.reduce_sum import ReduceSum


@dataclass(frozen=True)
class ReduceLogSum(Reduce):
    """The logarithm of the sum."""

    dtypes = FLOATS

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The formula, of floats in float64."""
        dtype, x = x.dtype, accumulator(x)
        with np.errstate(all="ignore"):
            return np.asarray(np.log(np.sum(x, axis=self.axes, keepdims=self.keepdims))).astype(dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The formula."""
        x = required(inputs, 0)
        return [builder.add1(Log(), builder.add1(ReduceSum(self.axes, self.keepdims), x))]
