"""Slice: a regular part of some axes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.content import is_less
from cuvil_edge.ir.dim import Extent, ceildiv, maximum, minimum
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import check_axis, ints, required, sample_array

_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Slice(Op):
    """Along ``axes[i]`` the elements ``starts[i], starts[i] + steps[i], ...`` before ``ends[i]`` is reached.

    Limits are normal (see ``normal_limits``): a start is in ``[0, extent]``, and so is an end; for a negative step it
    is in ``[-1, extent)``, where -1 means that element 0 is the last one.
    """

    shape_arithmetic = True

    starts: tuple[Extent, ...]
    ends: tuple[Extent, ...]
    axes: tuple[int, ...]
    steps: tuple[int, ...]

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """``ceil((end - start) / step)`` elements of each axis, at least 0."""
        x = required(inputs, 0)
        if not len(self.starts) == len(self.ends) == len(self.axes) == len(self.steps) == len(set(self.axes)):
            raise ShapeError("starts, ends, axes and steps do not fit each other")
        shape = list(x.type.shape)
        for start, end, axis, step in zip(self.starts, self.ends, self.axes, self.steps, strict=True):
            check_axis(axis, x.type.rank)
            shape[axis] = ceildiv(end - start, step) if step > 0 else ceildiv(start - end, -step)
            shape[axis] = maximum(shape[axis], 0)
        return [TensorType(x.type.dtype, tuple(shape))]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """The listed elements of each axis in turn."""
        for start, end, axis, step in zip(ints(self.starts), ints(self.ends), self.axes, self.steps, strict=True):
            x = np.take(x, np.arange(start, end, step), axis=axis)
        return x

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The axes where they are after the permutation."""
        return replace(self, axes=tuple(permutation.index(axis) for axis in self.axes))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Each axis, several, steps of both signs, nothing left, element sizes."""
        x = sample_array((5, 7, 9))
        cases = [
            cls((1,), (4,), (0,), (1,)),
            cls((2,), (7,), (1,), (1,)),
            cls((0,), (8,), (2,), (1,)),
            cls((1, 2), (4, 6), (0, 2), (1, 1)),
            cls((0, 1, 3), (5, 7, 9), (0, 1, 2), (2, 3, 1)),
            cls((1,), (9,), (2,), (2,)),
            cls((8,), (-1,), (2,), (-1,)),
            cls((4, 6), (0, -1), (0, 1), (-2, -3)),
            cls((3,), (3,), (1,), (1,)),
            cls((), (), (), ()),
        ]
        samples = [Sample(op, (x,), name=f"{op.starts}_{op.ends}_{op.axes}_{op.steps}") for op in cases]
        for dtype in (DType.I64, DType.U8, DType.BOOL):
            samples.append(
                Sample(cls((1, 0), (3, 7), (0, 1), (1, 2)), (sample_array((5, 7), dtype=dtype),), name=dtype.value)
            )
        return samples


def normal_limits(extent: Extent, start: Extent, end: Extent, step: int) -> tuple[Extent, Extent]:
    """Limits as ONNX gives them (negative ones count from the end, large ones are clamped) in the normal form.

    Limits beyond 32 bits mean "to the end", whatever the extent. TypeError if a limit's sign depends on the symbols.
    """
    start, end = _absolute(start, extent), _absolute(end, extent)
    if step > 0:
        return minimum(maximum(start, 0), extent), minimum(maximum(end, 0), extent)
    return minimum(maximum(start, 0), extent - 1), minimum(maximum(end, -1), extent - 1)


def _absolute(limit: Extent, extent: Extent) -> Extent:
    if isinstance(limit, int) and abs(limit) >= _NO_LIMIT:
        return extent if limit > 0 else -1
    return limit + extent if is_less(limit, 0) else limit
