"""Extents: writes extents that were computed from shapes to memory, where a kernel reads them as data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent, Shape
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType


@dataclass(frozen=True)
class Extents(Op):
    """An integer tensor of ``shape`` with the elements ``values``, in row-major order. No inputs."""

    values: tuple[Extent, ...]
    shape: Shape
    dtype: DType = DType.I64

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """As the attributes say."""
        return [TensorType(self.dtype, self.shape)]

    def reference(self, *inputs: np.ndarray | None) -> np.ndarray:
        """The values, where all of them are plain ints."""
        return np.asarray(self.values, dtype=self.dtype.numpy).reshape(self.shape)

    @classmethod
    def samples(cls) -> list[Sample]:
        """A scalar, a vector, a matrix, none, and other integer types."""
        return [
            Sample(cls((7,), ()), (), name="scalar"),
            Sample(cls((1, -2, 3), (3,)), (), name="vector"),
            Sample(cls((1, 2, 3, 4), (2, 2), DType.I32), (), name="matrix"),
            Sample(cls((), (0,)), (), name="empty"),
        ]
