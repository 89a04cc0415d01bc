"""Unsqueeze: axes of extent 1 inserted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import check_axis, required, sample_array


@dataclass(frozen=True)
class Unsqueeze(Op):
    """x with axes of extent 1 at the positions ``axes`` of the output (in ``[0, output rank)``)."""

    is_view = True
    shape_arithmetic = True

    axes: tuple[int, ...]

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The input's extents between the new ones."""
        x = required(inputs, 0)
        rank = x.type.rank + len(self.axes)
        for axis in self.axes:
            check_axis(axis, rank)
        if len(set(self.axes)) != len(self.axes):
            raise ShapeError("an axis is inserted twice", found=str(list(self.axes)))
        extents = iter(x.type.shape)
        return [TensorType(x.type.dtype, tuple(1 if axis in self.axes else next(extents) for axis in range(rank)))]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's expand_dims."""
        return np.expand_dims(x, self.axes)

    @classmethod
    def samples(cls) -> list[Sample]:
        """First, last, several axes; a scalar."""
        x = sample_array((5, 7))
        samples = [Sample(cls(axes), (x,), name=str(axes)) for axes in ((0,), (2,), (0, 3), (1, 2), (3, 0))]
        return [*samples, Sample(cls((0,)), (sample_array(()),), name="scalar")]
