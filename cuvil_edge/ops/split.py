"""Split: parts of given extents along an axis."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import check_axis, ints, required, sample_array


@dataclass(frozen=True)
class Split(Op):
    """Output ``i`` is the next ``sizes[i]`` of x along ``axis`` (in ``[0, rank)``)."""

    shape_arithmetic = True

    axis: int
    sizes: tuple[Extent, ...]

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The input's shape with each size; the sizes add up to the extent."""
        x = required(inputs, 0)
        check_axis(self.axis, x.type.rank)
        total: Extent = 0
        for size in self.sizes:
            checks.at_least(size, 0, f"parts {list(self.sizes)} of axis {self.axis} of {x.type} are not all positive")
            total = total + size
        checks.equal(total, x.type.shape[self.axis], f"parts {list(self.sizes)} are not axis {self.axis} of {x.type}")
        before, after = x.type.shape[: self.axis], x.type.shape[self.axis + 1 :]
        return [TensorType(x.type.dtype, (*before, size, *after)) for size in self.sizes]

    def reference(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """numpy's split."""
        ends = np.cumsum(ints(self.sizes), dtype=np.int64)[:-1]
        return tuple(map(np.ascontiguousarray, np.split(x, ends, axis=self.axis)))

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The axis where it is after the permutation."""
        return replace(self, axis=permutation.index(self.axis))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Every axis, even and uneven parts, one part, an empty part, integers."""
        x = sample_array((4, 6, 8))
        cases = [(0, (2, 2)), (1, (1, 2, 3)), (2, (3, 5)), (1, (6,)), (2, (1, 0, 7))]
        samples = [Sample(cls(axis, sizes), (x,), name=f"axis_{axis}_{sizes}") for axis, sizes in cases]
        return [*samples, Sample(cls(0, (3, 2)), (sample_array((5,), dtype=DType.I64),), name="i64")]
