"""ConstantOfShape: one number everywhere."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Shape
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import ints


@dataclass(frozen=True)
class ConstantOfShape(Op):
    """A tensor of ``shape`` whose elements are ``value``. No inputs."""

    shape_arithmetic = True

    shape: Shape
    value: float | int | bool = 0.0
    dtype: DType = field(default=DType.F32)

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """``shape``."""
        if any(isinstance(extent, int) and extent < 0 for extent in self.shape):
            raise ShapeError("an extent is negative", found=str(list(self.shape)))
        return [TensorType(self.dtype, self.shape)]

    def reference(self) -> np.ndarray:
        """numpy's full."""
        return np.full(ints(self.shape), self.value, self.dtype.numpy)

    @classmethod
    def samples(cls) -> list[Sample]:
        """Element types, a scalar, no elements."""
        cases = [cls((3, 17), 1.5), cls((5,), -3, DType.I64), cls((2, 3), True, DType.BOOL), cls((), 2.0), cls((0, 3))]
        return [Sample(op, (), name=f"{op.shape}_{op.value}") for op in cases]
