"""Tile: whole copies side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import ints, require_rank, required, sample_array


@dataclass(frozen=True)
class Tile(Op):
    """``repeats[i]`` copies of x one after the other along axis ``i``."""

    shape_arithmetic = True

    repeats: tuple[Extent, ...]

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """Each extent times its repeats."""
        x = required(inputs, 0)
        require_rank(x, len(self.repeats), len(self.repeats))
        if any(isinstance(count, int) and count < 0 for count in self.repeats):
            raise ShapeError("repeats are negative", found=str(list(self.repeats)))
        return [TensorType(x.type.dtype, tuple(n * count for n, count in zip(x.type.shape, self.repeats, strict=True)))]

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's tile."""
        return np.tile(x, ints(self.repeats))

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The permuted repeats."""
        return Tile(tuple(self.repeats[axis] for axis in permutation))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Each axis, all, none, zero copies."""
        x = sample_array((3, 5, 7))
        samples = [
            Sample(cls(n), (x,), name=str(n))
            for n in ((2, 1, 1), (1, 3, 1), (1, 1, 4), (2, 3, 2), (1, 1, 1), (1, 0, 2))
        ]
        return [*samples, Sample(cls((3,)), (sample_array((5,), dtype=DType.I64),), name="i64")]
