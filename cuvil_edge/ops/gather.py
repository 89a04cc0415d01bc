"""Gather: slices of an axis, chosen by index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import check_axis, required, sample_array


@dataclass(frozen=True)
class Gather(Op):
    """``y[p..., i..., q...] = x[p..., indices[i...], q...]``, the index on ``axis`` (in ``[0, rank)``).

    Inputs: x, indices (i32 or i64) in ``[-extent, extent)``; negative ones count from the end.
    """

    shape_arithmetic = True

    axis: int = 0

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The indices' shape in the place of the axis."""
        x, indices = required(inputs, 0), required(inputs, 1)
        check_axis(self.axis, x.type.rank)
        check_indices(indices, x.type.shape[self.axis])
        shape = (*x.type.shape[: self.axis], *indices.type.shape, *x.type.shape[self.axis + 1 :])
        return [TensorType(x.type.dtype, shape)]

    def reference(self, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """numpy's take; IndexError for an index out of range."""
        return np.asarray(np.take(x, indices.astype(np.int64), axis=self.axis))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Every axis, ranks of the indices 0 to 2, negative indices, none, element sizes, a table of embeddings."""
        x, flat = sample_array((5, 6, 7)), np.array([4, 0, -1, 3])
        samples = [Sample(cls(axis), (x, flat), name=f"axis_{axis}") for axis in range(3)]
        samples += [
            Sample(cls(1), (x, np.array(2)), name="scalar_index"),
            Sample(cls(0), (x, np.array([[0, 1, 4], [-5, 2, 2]])), name="matrix_of_indices"),
            Sample(cls(0), (x, np.zeros((0,), np.int64)), name="no_indices"),
            Sample(cls(0), (sample_array((50, 33)), np.array([[7, 49, 0]], np.int32)), (0,), "embeddings"),
            Sample(cls(0), (x, np.array([1, 3])), (1,), "constant_indices"),
        ]
        for dtype in (DType.I64, DType.U8, DType.BOOL):
            samples.append(Sample(cls(0), (sample_array((7, 3), dtype=dtype), flat), name=dtype.value))
        return samples


def check_indices(indices: Value, extent: object) -> None:
    """ShapeError unless ``indices`` are integers and, where both are known, inside ``[-extent, extent)``."""
    if indices.type.dtype not in (DType.I32, DType.I64):
        raise ShapeError("indices have a wrong element type", expected="i32 or i64", found=indices.type.dtype.value)
    array = indices.constant
    if array is not None and isinstance(extent, int) and array.size:
        worst = int(array.max()) if array.max() >= extent else int(array.min())
        if not -extent <= worst < extent:
            raise ShapeError("an index is out of range", expected=f"{-extent} to {extent - 1}", found=str(worst))
