"""Base of ArgMax and ArgMin."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Cost, Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import check_axis, required, sample_array


@dataclass(frozen=True)
class ArgReduce(Op):
    """An i64 position along ``axis`` (in ``[0, rank)``); of equal elements the first, or the last.

    Attributes:
        keepdims: the axis stays with extent 1 instead of vanishing.
        select_last_index: of equal elements the last.
    """

    axis: int
    keepdims: bool = True
    select_last_index: bool = False

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The input's shape with the axis 1, or without it."""
        x = required(inputs, 0)
        check_axis(self.axis, x.type.rank)
        if x.type.dtype is DType.BOOL:
            raise ShapeError("the position of an extreme is not defined for bools")
        checks.at_least(x.type.shape[self.axis], 1, f"axis {self.axis} of {x.type} has no elements")
        middle = (1,) * self.keepdims
        return [TensorType(DType.I64, (*x.type.shape[: self.axis], *middle, *x.type.shape[self.axis + 1 :]))]

    @abstractmethod
    def position(self, x: np.ndarray) -> np.ndarray:
        """The first position, without the axis."""

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's search, from the end for the last of equal elements."""
        if self.select_last_index:
            result = x.shape[self.axis] - 1 - self.position(np.flip(x, self.axis))
        else:
            result = self.position(x)
        return np.asarray(np.expand_dims(result, self.axis) if self.keepdims else result).astype(np.int64)

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """One comparison for each element of the input."""
        traffic, x = super().cost(inputs, outputs), inputs[0]
        assert x is not None
        return Cost(x.elements, traffic.bytes_read, traffic.bytes_written)

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The axis where it is after the permutation; only with ``keepdims`` the rank stays."""
        return replace(self, axis=permutation.index(self.axis)) if self.keepdims else None

    @classmethod
    def samples(cls) -> list[Sample]:
        """Every axis, equal elements from both ends, long rows, integers."""
        x, equal = sample_array((3, 5, 7)), np.array([[1, 3, 3, 0, 0], [2, 2, 2, 2, 2]], np.float32)
        samples = [
            Sample(cls(axis, keep), (x,), name=f"axis_{axis}_{keep}") for axis in range(3) for keep in (True, False)
        ]
        samples += [Sample(cls(1, True, last), (equal,), name=f"equal_{last}") for last in (False, True)]
        samples.append(Sample(cls(1, False), (sample_array((2, 1031)),), name="long"))
        samples.append(Sample(cls(0), (sample_array((9,)),), name="rank_1"))
        for dtype in (DType.I64, DType.I32, DType.U8):
            samples.append(Sample(cls(1), (sample_array((4, 6), dtype=dtype),), name=dtype.value))
        return samples
