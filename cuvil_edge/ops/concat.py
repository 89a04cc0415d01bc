"""Concat: inputs one after the other along an axis."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import check_axis, require_rank, require_same_dtype, required, sample_array


@dataclass(frozen=True)
class Concat(Op):
    """One or more inputs joined along ``axis`` (in ``[0, rank)``); their other extents are equal."""

    shape_arithmetic = True

    axis: int

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """Extents add up along the axis."""
        values = [required(inputs, index) for index in range(max(len(inputs), 1))]
        require_same_dtype(*values)
        first = values[0].type
        check_axis(self.axis, first.rank)
        total: Extent = 0
        for value in values:
            require_rank(value, first.rank, first.rank)
            total = total + value.type.shape[self.axis]
            for axis, extent in enumerate(value.type.shape):
                if axis != self.axis:
                    checks.equal(
                        first.shape[axis], extent, f"cannot join {first} and {value.type} along axis {self.axis}"
                    )
        return [TensorType(first.dtype, (*first.shape[: self.axis], total, *first.shape[self.axis + 1 :]))]

    def reference(self, *inputs: np.ndarray | None) -> np.ndarray:
        """numpy's concatenate."""
        return np.concatenate([array for array in inputs if array is not None], axis=self.axis)

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The axis where it is after the permutation."""
        return replace(self, axis=permutation.index(self.axis))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Every axis, one to five inputs, uneven and empty extents, every element size."""
        samples = []
        for axis in range(3):
            shapes = [[3, 5, 7] for _ in range(3)]
            shapes[1][axis], shapes[2][axis] = 1, 4
            arrays = tuple(sample_array(tuple(shape), index) for index, shape in enumerate(shapes))
            samples.append(Sample(cls(axis), arrays, name=f"axis_{axis}"))
        five = tuple(sample_array((2, count, 3), count) for count in (1, 0, 17, 2, 5))
        samples += [Sample(cls(0), (sample_array((3,)),), name="one"), Sample(cls(1), five, name="five")]
        for dtype in (DType.I64, DType.U8, DType.BOOL):
            pair = (sample_array((3, 5), dtype=dtype), sample_array((3, 2), dtype=dtype))
            samples.append(Sample(cls(1), pair, name=dtype.value))
        return samples
