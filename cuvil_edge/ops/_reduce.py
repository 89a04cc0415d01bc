"""Base of the reductions over whole axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from cuvil_edge.errors import ShapeError, UnsupportedError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Cost, Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._elementwise import FLOATS, NUMBERS
from cuvil_edge.ops._inputs import check_axis, required, sample_array


@dataclass(frozen=True)
class Reduce(Op):
    """Reduces ``axes`` (in ``[0, rank)``, ascending) of the input; without ``keepdims`` they vanish from the shape.

    Without axes each element is reduced alone.
    """

    dtypes: ClassVar[tuple[DType, ...]] = NUMBERS

    axes: tuple[int, ...]
    keepdims: bool = True

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The input's shape with the reduced axes 1, or without them."""
        x = required(inputs, 0)
        if x.type.dtype not in self.dtypes:
            accepted = ", ".join(dtype.value for dtype in self.dtypes)
            raise UnsupportedError("element type", expected=accepted, found=x.type.dtype.value)
        for axis in self.axes:
            check_axis(axis, x.type.rank)
        if len(set(self.axes)) != len(self.axes):
            raise ShapeError("an axis is reduced twice", found=str(list(self.axes)))
        if self.keepdims:
            shape = tuple(1 if axis in self.axes else extent for axis, extent in enumerate(x.type.shape))
        else:
            shape = tuple(extent for axis, extent in enumerate(x.type.shape) if axis not in self.axes)
        return [TensorType(x.type.dtype, shape)]

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """One flop for each element of the input."""
        traffic, x = super().cost(inputs, outputs), inputs[0]
        assert x is not None
        return Cost(x.elements, traffic.bytes_read, traffic.bytes_written)

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The same axes where they are after the permutation; only with ``keepdims`` the rank stays."""
        return replace(self, axes=moved_axes(self.axes, permutation)) if self.keepdims else None

    @classmethod
    def samples(cls) -> list[Sample]:
        """Each axis alone, several, all and none, with and without ``keepdims``; long and empty axes; integers."""
        x = sample_array((3, 5, 4, 7))
        axes = [(0,), (1,), (3,), (1, 3), (2, 3), (0, 2), (0, 1, 2, 3), ()]
        samples = [Sample(cls(group, keep), (x,), name=f"{group}_{keep}") for group in axes for keep in (True, False)]
        samples.append(Sample(cls((1,), False), (sample_array((3, 1031)),), name="long"))
        samples.append(Sample(cls((0,), True), (sample_array((257, 19)),), name="long_outer"))
        samples.append(Sample(cls((0,)), (sample_array((2, 0)),), name="empty_result"))
        if any(dtype not in FLOATS for dtype in cls.dtypes):
            samples.append(Sample(cls((1,)), (sample_array((4, 6), dtype=DType.I64),), name="i64"))
            samples.append(Sample(cls((0,), False), (sample_array((4, 6), dtype=DType.I32),), name="i32"))
        return samples


def moved_axes(axes: Sequence[int], permutation: Sequence[int]) -> tuple[int, ...]:
    """Where ``axes`` of x are in ``transpose(x, permutation)``, ascending."""
    return tuple(sorted(permutation.index(axis) for axis in axes))


def maximum_of_nothing(dtype: np.dtype) -> float | int | bool:
    """The lowest value of the type: the maximum over no elements."""
    if dtype.kind == "b":
        return False
    return -np.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)


def minimum_of_nothing(dtype: np.dtype) -> float | int | bool:
    """The highest value of the type: the minimum over no elements."""
    if dtype.kind == "b":
        return True
    return np.inf if dtype.kind == "f" else int(np.iinfo(dtype).max)


def reduce_extents(
    x: np.ndarray, combine: Callable[..., np.ndarray], axes: Sequence[int], keepdims: bool
) -> np.ndarray:
    """An object array of extents reduced by a function of two of them; ValueError over an empty axis."""
    result = x
    for axis in sorted(axes, reverse=True):
        parts = np.split(result, result.shape[axis], axis)
        total = parts[0]
        for part in parts[1:]:
            total = np.asarray(combine(total, part), dtype=object)
        result = total if keepdims else np.squeeze(total, axis)
    return result
