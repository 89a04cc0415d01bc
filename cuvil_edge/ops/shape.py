"""Shape: the extents of a tensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import required, sample_array


@dataclass(frozen=True)
class Shape(Op):
    """Extents of the axes ``[start, end)`` of x as i64; ``end`` None is the rank.

    Known while compiling, never executed.
    """

    shape_arithmetic = True

    start: int = 0
    end: int | None = None

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """As many elements as axes."""
        rank = required(inputs, 0).type.rank
        end = rank if self.end is None else self.end
        if not 0 <= self.start <= end <= rank:
            raise ShapeError("axes are out of range", expected=f"0 to {rank}", found=f"{self.start} to {end}")
        return [TensorType(DType.I64, (end - self.start,))]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's shape."""
        return np.array(x.shape[self.start : self.end], np.int64)

    def contents(self, inputs: Inputs) -> tuple[np.ndarray, ...] | None:
        """The extents, symbolic or not."""
        extents = required(inputs, 0).type.shape[self.start : self.end]
        content = np.empty(len(extents), dtype=object)
        content[:] = extents
        return (content,)

    @classmethod
    def samples(cls) -> list[Sample]:
        """All axes, some, of a scalar."""
        x = sample_array((2, 3, 5))
        return [
            Sample(cls(), (x,)),
            Sample(cls(1), (x,), name="from_1"),
            Sample(cls(0, 2), (x,), name="to_2"),
            Sample(cls(), (sample_array(()),), name="scalar"),
        ]
