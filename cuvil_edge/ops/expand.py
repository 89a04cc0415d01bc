"""Expand: broadcast to a shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks, broadcast_shapes
from cuvil_edge.ir.dim import Shape
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import ints, required, sample_array


@dataclass(frozen=True)
class Expand(Op):
    """x repeated along axes of extent 1 until it has ``shape``, the shape of the output."""

    shape_arithmetic = True

    shape: Shape

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """``shape``, to which x must broadcast."""
        x = required(inputs, 0)
        message = f"{x.type} does not broadcast to {TensorType(x.type.dtype, self.shape)}"
        if x.type.rank > len(self.shape):
            raise ShapeError(message)
        for extent, wanted in zip(x.type.shape[::-1], self.shape[::-1], strict=False):
            if extent != 1:
                checks.equal(extent, wanted, message)
        return [TensorType(x.type.dtype, self.shape)]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's broadcast_to."""
        return np.array(np.broadcast_to(x, ints(self.shape)))

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The permuted shape (for an input of the same rank)."""
        return Expand(tuple(self.shape[axis] for axis in permutation))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Every axis, new axes, nothing to do, no elements."""
        cases = [
            ((3, 1, 7), (3, 5, 7)),
            ((1, 5, 1), (3, 5, 7)),
            ((1, 1, 7), (2, 5, 7)),
            ((5, 1), (3, 5, 17)),
            ((), (2, 3)),
        ]
        cases += [((3, 5), (3, 5)), ((1,), (4, 33)), ((1, 3), (0, 3))]
        samples = [Sample(cls(shape), (sample_array(own),), name=f"{own}_{shape}") for own, shape in cases]
        samples.append(Sample(cls((3, 5)), (sample_array((5,), dtype=DType.I64),), name="i64"))
        return [*samples, Sample(cls((3, 5)), (sample_array((3, 1), dtype=DType.BOOL),), name="bool")]


def expand_target(shape: Shape, target: Shape, checks: Checks) -> Shape:
    """The output shape of ONNX's Expand, whose target may itself broadcast (extent 1 keeps the input's)."""
    return broadcast_shapes([shape, target], checks, f"[{_text(shape)}] does not broadcast with [{_text(target)}]")


def _text(shape: Shape) -> str:
    return ", ".join(map(str, shape))
