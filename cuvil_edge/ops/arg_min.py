"""ArgMin: where the smallest element is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs
from cuvil_edge.ops._arg import ArgReduce
from cuvil_edge.ops._inputs import required
from cuvil_edge.ops.arg_max import ArgMax
from cuvil_edge.ops.bitwise_not import BitwiseNot
from cuvil_edge.ops.neg import Neg


@dataclass(frozen=True)
class ArgMin(ArgReduce):
    """The position of the smallest element along axis; NaN counts as the smallest."""

    def position(self, x: np.ndarray) -> np.ndarray:
        """numpy's argmin."""
        return np.asarray(np.argmin(x, axis=self.axis))

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The largest of the opposites: negated floats, inverted integers (which unlike negation has no overflow)."""
        x = required(inputs, 0)
        opposite = builder.add1(Neg() if x.type.dtype.is_float else BitwiseNot(), x)
        return [builder.add1(ArgMax(self.axis, self.keepdims, self.select_last_index), opposite)]
