"""ReduceLogSumExp: logarithm of the sum of exponentials over axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs
from cuvil_edge.ops._elementwise import FLOATS
from cuvil_edge.ops._inputs import accumulator, required
from cuvil_edge.ops._reduce import Reduce
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.exp import Exp
from cuvil_edge.ops.is_inf import IsInf
from cuvil_edge.ops.log import Log
from cuvil_edge.ops.reduce_max import ReduceMax
from cuvil_edge.ops.reduce_sum import ReduceSum
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.sub import Sub
from cuvil_edge.ops.where import Where


@dataclass(frozen=True)
class ReduceLogSumExp(Reduce):
    """``log(sum(e ** x))``, written so that it does not overflow; -inf over an empty axis."""

    dtypes = FLOATS

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The formula in float64, shifted by the maximum."""
        x64 = accumulator(x)
        with np.errstate(all="ignore"):
            top = np.max(x64, axis=self.axes, keepdims=True, initial=-np.inf)
            shift = np.where(np.isinf(top), 0, top)
            total = np.log(np.sum(np.exp(x64 - shift), axis=self.axes, keepdims=True)) + shift
        return np.asarray(total if self.keepdims else np.squeeze(total, self.axes)).astype(x.dtype)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The formula; an infinite maximum is no shift, as the difference of infinities is not a number."""
        x = required(inputs, 0)
        top = builder.add1(ReduceMax(self.axes), x)
        zero = builder.constant(np.asarray(0, x.type.dtype.numpy), f"{builder.name}.zero")
        shift = builder.add1(Where(), builder.add1(IsInf(), top), zero, top)
        total = builder.add1(ReduceSum(self.axes), builder.add1(Exp(), builder.add1(Sub(), x, shift)))
        result = builder.add1(Add(), builder.add1(Log(), total), shift)
        if self.keepdims:
            return [result]
        kept = tuple(extent for axis, extent in enumerate(x.type.shape) if axis not in self.axes)
        return [builder.add1(Reshape(kept), result)]
