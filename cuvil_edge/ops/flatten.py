"""Flatten: a matrix of the axes before and from ``axis``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import product
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import required, sample_array


@dataclass(frozen=True)
class Flatten(Op):
    """x as [product of the axes before ``axis``, product of the others]; ``axis`` in ``[0, rank]``."""

    is_view = True

    axis: int = 1

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """Two products."""
        x = required(inputs, 0)
        if not 0 <= self.axis <= x.type.rank:
            raise ShapeError("axis is out of range", expected=f"0 to {x.type.rank}", found=str(self.axis))
        return [TensorType(x.type.dtype, (product(x.type.shape[: self.axis]), product(x.type.shape[self.axis :])))]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's reshape."""
        return x.reshape(int(np.prod(x.shape[: self.axis])), int(np.prod(x.shape[self.axis :])))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Every axis."""
        return [Sample(cls(axis), (sample_array((2, 3, 5)),), name=f"axis_{axis}") for axis in range(4)]
