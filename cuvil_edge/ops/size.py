"""Size: the number of elements of a tensor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import required, sample_array


@dataclass(frozen=True)
class Size(Op):
    """The number of elements of x as an i64 scalar. Known while compiling, never executed."""

    shape_arithmetic = True

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """A scalar."""
        required(inputs, 0)
        return [TensorType(DType.I64, ())]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's size."""
        return np.array(x.size, np.int64)

    def contents(self, inputs: Inputs) -> tuple[np.ndarray, ...] | None:
        """The product of the extents, symbolic or not."""
        return (np.asarray(required(inputs, 0).type.elements, dtype=object),)

    @classmethod
    def samples(cls) -> list[Sample]:
        """Some elements, one, none."""
        return [Sample(cls(), (sample_array(shape),), name=str(shape)) for shape in ((2, 3, 5), (), (0, 3))]
