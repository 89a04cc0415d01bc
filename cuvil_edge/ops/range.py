"""Range: an arithmetic sequence."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.content import is_less
from cuvil_edge.ir.dim import Dim, Extent, ceildiv, maximum
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType


@dataclass(frozen=True)
class Range(Op):
    """``start, start + delta, start + 2 * delta, ...`` before ``limit`` is reached, as ``dtype``. No inputs.

    The attributes are numbers; those of an integer type may depend on symbols.
    """

    shape_arithmetic = True

    start: Extent | float
    limit: Extent | float
    delta: Extent | float
    dtype: DType = field(default=DType.I64)

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """``ceil((limit - start) / delta)`` elements, at least 0; ShapeError for a step of 0 or of unknown sign."""
        return [TensorType(self.dtype, (self.count(),))]

    def count(self) -> Extent:
        """The number of elements."""
        start, limit, delta = self.start, self.limit, self.delta
        if isinstance(start, float) or isinstance(limit, float) or isinstance(delta, float):
            if isinstance(start, Dim) or isinstance(limit, Dim) or isinstance(delta, Dim):
                raise ShapeError("a range of floats cannot depend on symbols")
            if delta == 0 or not all(map(math.isfinite, (start, limit, delta))):
                raise ShapeError("a range needs a step that is not 0", found=f"{start}, {limit}, {delta}")
            return max(0, math.ceil((limit - start) / delta))
        try:
            down = is_less(delta, 0)
        except TypeError:
            raise ShapeError("the sign of a range's step depends on symbols", found=str(delta)) from None
        if delta == 0:
            raise ShapeError("a range needs a step that is not 0")
        return maximum(ceildiv(start - limit, -delta) if down else ceildiv(limit - start, delta), 0)

    def reference(self) -> np.ndarray:
        """Each element by the formula."""
        count = self.count()
        if isinstance(count, Dim):
            raise TypeError("the number of elements depends on symbols")
        if isinstance(self.start, Dim) or isinstance(self.delta, Dim):
            return np.array([self.start + i * self.delta for i in range(count)], dtype=object)
        wide = np.float64 if self.dtype.is_float else np.int64
        return (wide(self.start) + np.arange(count) * wide(self.delta)).astype(self.dtype.numpy)

    @classmethod
    def samples(cls) -> list[Sample]:
        """Up, down, in steps, nothing, floats."""
        cases = [cls(0, 17, 1), cls(3, 20, 5), cls(10, -3, -4), cls(5, 5, 1), cls(0, 9, 2, DType.I32)]
        cases += [cls(0.5, 3.0, 0.25, DType.F32), cls(2.0, -1.0, -0.7, DType.F32)]
        return [Sample(op, (), name=f"{op.start}_{op.limit}_{op.delta}_{op.dtype.value}") for op in cases]
