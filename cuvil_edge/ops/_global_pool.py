"""Base of the pools over all spatial axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import require_float, require_rank, required, sample_array
from cuvil_edge.ops._reduce import Reduce


@dataclass(frozen=True)
class GlobalPool(Op):
    """x [N, C, *spatial] to [N, C, 1, ...]: ``reduction`` over all spatial axes."""

    reduction: ClassVar[type[Reduce]]

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """Spatial extents become 1."""
        x = required(inputs, 0)
        require_float(x)
        rank = require_rank(x, 2)
        return [TensorType(x.type.dtype, (*x.type.shape[:2], *[1] * (rank - 2)))]

    def reduce(self, rank: int) -> Reduce:
        """The reduction for an input of this rank."""
        return self.reduction(tuple(range(2, rank)))

    def reference(self, x: np.ndarray) -> np.ndarray:
        """That of the reduction."""
        result = self.reduce(x.ndim).reference(x)
        assert isinstance(result, np.ndarray)
        return result

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The reduction."""
        x = required(inputs, 0)
        return [builder.add1(self.reduce(x.type.rank), x)]

    @classmethod
    def samples(cls) -> list[Sample]:
        """1 to 3 spatial axes, one element."""
        shapes = [(2, 5, 7, 9), (1, 3, 17), (2, 3, 2, 3, 4), (1, 1, 1, 1)]
        return [Sample(cls(), (sample_array(shape),), name=str(shape)) for shape in shapes]
