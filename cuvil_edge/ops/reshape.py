"""Reshape: the same elements under another shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent, Shape, product
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import ints, required, sample_array


@dataclass(frozen=True)
class Reshape(Op):
    """The elements of x in row-major order under ``shape``, whose extents are known (see ``resolve_target``)."""

    is_view = True
    shape_arithmetic = True

    shape: Shape

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """``shape``; the number of elements must stay."""
        x = required(inputs, 0)
        target = TensorType(x.type.dtype, self.shape)
        if any(isinstance(extent, int) and extent < 0 for extent in self.shape):
            raise ShapeError("a target extent is negative", found=str(target))
        checks.equal(x.type.elements, target.elements, f"cannot reshape {x.type} to {target}")
        return [target]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's reshape."""
        return x.reshape(ints(self.shape))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Merging, splitting, to and from rank 0, no elements."""
        x = sample_array((4, 3, 10))
        shapes = [(12, 10), (4, 30), (120,), (2, 2, 3, 5, 2), (4, 1, 3, 10)]
        samples = [Sample(cls(shape), (x,), name=str(shape)) for shape in shapes]
        samples.append(Sample(cls(()), (sample_array((1, 1)),), name="to_scalar"))
        samples.append(Sample(cls((1, 1)), (sample_array(()),), name="from_scalar"))
        return [*samples, Sample(cls((0, 7)), (sample_array((3, 0)),), name="empty")]


def resolve_target(shape: Shape, target: Sequence[Extent], allow_zero: bool = False) -> Shape:
    """The full shape that a target with 0 (keep this axis) and one -1 (whatever remains) means for ``shape``.

    Raises:
        ShapeError: two -1, a 0 beyond the input's axes, or a remainder that is surely no whole number.
    """
    resolved: list[Extent] = []
    for axis, extent in enumerate(target):
        if isinstance(extent, int) and extent == 0 and not allow_zero:
            if axis >= len(shape):
                raise ShapeError(
                    f"target extent {axis} keeps an axis that the input does not have", found=str(list(target))
                )
            extent = shape[axis]
        resolved.append(extent)
    unknown = [axis for axis, extent in enumerate(resolved) if isinstance(extent, int) and extent == -1]
    if len(unknown) > 1:
        raise ShapeError("more than one target extent is -1", found=str(list(target)))
    if unknown:
        others = resolved[: unknown[0]] + resolved[unknown[0] + 1 :]
        resolved[unknown[0]] = _remaining(shape, others, target)
    return tuple(resolved)


def _remaining(shape: Shape, others: Sequence[Extent], target: Sequence[Extent]) -> Extent:
    """Elements of ``shape`` divided by those of ``others``, after equal extents are struck from both."""
    left, right = list(shape), list(others)
    for extent in list(right):
        if extent in left:
            left.remove(extent)
            right.remove(extent)
    total, divisor = product(tuple(left)), product(tuple(right))
    if isinstance(divisor, int) and divisor == 0:
        raise ShapeError("-1 has no meaning beside an extent of 0", found=str(list(target)))
    if isinstance(total, int) and isinstance(divisor, int) and total % divisor:
        text = ", ".join(map(str, shape))
        raise ShapeError(
            f"cannot reshape [{text}]", expected=f"a multiple of {divisor} elements", found=str(list(target))
        )
    return total // divisor
