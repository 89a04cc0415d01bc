"""Transpose: another order of axes."""

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
class Transpose(Op):
    """Axis ``i`` of the output is axis ``permutation[i]`` of the input."""

    shape_arithmetic = True

    permutation: tuple[int, ...]

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The permuted shape."""
        x = required(inputs, 0)
        if sorted(self.permutation) != list(range(x.type.rank)):
            expected = f"each of 0 to {x.type.rank - 1} once"
            raise ShapeError("the permutation does not fit", expected=expected, found=str(list(self.permutation)))
        return [TensorType(x.type.dtype, tuple(x.type.shape[axis] for axis in self.permutation))]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's transpose."""
        return np.ascontiguousarray(np.transpose(x, self.permutation)) if x.ndim else x

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """``transpose(transpose(x, p), t)`` must be ``transpose(transpose(x, own), p)``."""
        wanted = tuple(self.permutation[axis] for axis in permutation)
        return Transpose(tuple(permutation.index(axis) for axis in wanted))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Ranks 0 to 5, layout changes, unit axes, every element size."""
        cases = [
            ((), ()),
            ((5,), (0,)),
            ((5, 7), (1, 0)),
            ((17, 33), (1, 0)),
            ((3, 5, 7), (2, 0, 1)),
            ((3, 5, 7), (1, 0, 2)),
        ]
        cases += [((2, 19, 5, 7), (0, 2, 3, 1)), ((2, 5, 7, 19), (0, 3, 1, 2)), ((2, 3, 4, 5), (0, 2, 1, 3))]
        cases += [((1, 5, 1, 7), (3, 2, 1, 0)), ((2, 3, 4, 5, 6), (4, 2, 0, 3, 1)), ((3, 0, 2), (2, 1, 0))]
        samples = [Sample(cls(order), (sample_array(shape),), name=f"{shape}_{order}") for shape, order in cases]
        for dtype in (DType.I64, DType.U8, DType.F16, DType.BOOL):
            samples.append(Sample(cls((2, 0, 1)), (sample_array((3, 5, 7), dtype=dtype),), name=dtype.value))
        return samples
