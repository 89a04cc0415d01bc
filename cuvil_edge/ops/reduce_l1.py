"""ReduceL1: sum of magnitudes over axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs
from cuvil_edge.ops._elementwise import NUMBERS
from cuvil_edge.ops._inputs import accumulator, required
from cuvil_edge.ops._reduce import Reduce
from cuvil_edge.ops.abs import Abs
from cuvil_edge.ops.reduce_sum import ReduceSum


@dataclass(frozen=True)
class ReduceL1(Reduce):
    """The sum of magnitudes."""

    dtypes = NUMBERS

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The formula, of floats in float64."""
        dtype, x = x.dtype, accumulator(x)
        with np.errstate(all="ignore"):
            return np.asarray(np.sum(np.abs(x), axis=self.axes, keepdims=self.keepdims)).astype(dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The formula."""
        x = required(inputs, 0)
        return [builder.add1(ReduceSum(self.axes, self.keepdims), builder.add1(Abs(), x))]
