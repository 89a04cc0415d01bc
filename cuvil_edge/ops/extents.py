"""Extents: numbers that are known once the symbols are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent, Shape, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import ints


@dataclass(frozen=True)
class Extents(Op):
    """``values``, in row-major order of ``shape``, as ``dtype`` (an integer type or bool). No inputs.

    What is left of a model's shape computations where data meets them: the values follow from the symbols alone.
    """

    shape_arithmetic = True

    values: tuple[Extent, ...]
    shape: Shape
    dtype: DType = DType.I64

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """``shape``."""
        if product(self.shape) != len(self.values):
            raise ShapeError("values do not fill the shape", expected=str(self.shape), found=str(len(self.values)))
        return [TensorType(self.dtype, self.shape)]

    def reference(self) -> np.ndarray:
        """The values."""
        return np.array(self.values, self.dtype.numpy).reshape(ints(self.shape))

    def contents(self, inputs: Inputs) -> tuple[np.ndarray, ...] | None:
        """The values, symbolic or not."""
        content = np.empty(len(self.values), dtype=object)
        content[:] = self.values
        return (content.reshape(ints(self.shape)),)

    @classmethod
    def samples(cls) -> list[Sample]:
        """A vector, a scalar, a matrix of another type, nothing."""
        cases = [cls((3, -2, 224), (3,)), cls((7,), ()), cls((1, 2, 3, 4), (2, 2), DType.I32), cls((), (0,))]
        return [Sample(op, (), name=f"{op.values}_{op.dtype.value}") for op in cases]
