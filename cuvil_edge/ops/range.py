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
from cuvil_edge.ops._inputs import ints


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
        if (reals := self._reals()) is not None:
            start, limit, delta = reals
            if delta == 0 or not all(map(math.isfinite, reals)):
                raise ShapeError("a range needs a step that is not 0", found=f"{start}, {limit}, {delta}")
            return max(0, math.ceil((limit - start) / delta))
        first, last, step = self._extents()
        try:
            down = is_less(step, 0)
        except TypeError:
            raise ShapeError("the sign of a range's step depends on symbols", found=str(step)) from None
        if step == 0:
            raise ShapeError("a range needs a step that is not 0")
        return maximum(ceildiv(first - last, -step) if down else ceildiv(last - first, step), 0)

    def _reals(self) -> tuple[float, float, float] | None:
        """The attributes if they are floats, else None."""
        numbers = [number for number in (self.start, self.limit, self.delta) if not isinstance(number, Dim)]
        if not self.dtype.is_float:
            return None
        if len(numbers) < 3:
            raise ShapeError("a range of floats cannot depend on symbols")
        start, limit, delta = map(float, numbers)
        return start, limit, delta

    def _extents(self) -> tuple[Extent, Extent, Extent]:
        """The attributes, of an integer type."""
        numbers = [number for number in (self.start, self.limit, self.delta) if not isinstance(number, float)]
        if len(numbers) < 3:
            raise ShapeError("a range of integers has real limits")
        start, limit, delta = numbers
        return start, limit, delta

    def reference(self) -> np.ndarray:
        """Each element by the formula."""
        [count] = ints([self.count()])
        if (reals := self._reals()) is not None:
            start, _, delta = reals
            return np.asarray(start + np.arange(count) * delta).astype(self.dtype.numpy)
        first, _, step = self._extents()
        if isinstance(first, int) and isinstance(step, int):
            return np.asarray(np.arange(count, dtype=np.int64) * step + first).astype(self.dtype.numpy)
        return np.array([first + index * step for index in range(count)], dtype=object)

    @classmethod
    def samples(cls) -> list[Sample]:
        """Up, down, in steps, nothing, floats."""
        cases = [cls(0, 17, 1), cls(3, 20, 5), cls(10, -3, -4), cls(5, 5, 1), cls(0, 9, 2, DType.I32)]
        cases += [cls(0.5, 3.0, 0.25, DType.F32), cls(2.0, -1.0, -0.7, DType.F32)]
        return [Sample(op, (), name=f"{op.start}_{op.limit}_{op.delta}_{op.dtype.value}") for op in cases]
