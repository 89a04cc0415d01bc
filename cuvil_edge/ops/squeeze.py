"""Squeeze: axes of extent 1 removed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import check_axis, required, sample_array


@dataclass(frozen=True)
class Squeeze(Op):
    """x without ``axes`` (in ``[0, rank)``), whose extents are 1."""

    is_view = True
    shape_arithmetic = True

    axes: tuple[int, ...]

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The other extents."""
        x = required(inputs, 0)
        for axis in self.axes:
            check_axis(axis, x.type.rank)
            checks.equal(x.type.shape[axis], 1, f"cannot squeeze axis {axis} of {x.type}")
        return [TensorType(x.type.dtype, tuple(n for axis, n in enumerate(x.type.shape) if axis not in self.axes))]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's squeeze."""
        return np.squeeze(x, self.axes)

    @classmethod
    def samples(cls) -> list[Sample]:
        """One, several, no axes."""
        x = sample_array((1, 5, 1, 7))
        return [Sample(cls(axes), (x,), name=str(axes)) for axes in ((0,), (2,), (0, 2), ())]
