"""GatherElements: single elements, chosen by an index on one axis."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import check_axis, require_rank, required, sample_array
from cuvil_edge.ops._linear_index import counting, linear_index, wrapped
from cuvil_edge.ops.gather import Gather, check_indices
from cuvil_edge.ops.reshape import Reshape


@dataclass(frozen=True)
class GatherElements(Op):
    """``y[i, j, k] = x[i, indices[i, j, k], k]`` for ``axis`` 1 of rank 3, and so on.

    Inputs: x, indices of the same rank (i32 or i64) in ``[-extent, extent)``; negative ones count from the end.
    """

    axis: int = 0

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The shape of the indices, which on other axes is not larger than the data."""
        x, indices = required(inputs, 0), required(inputs, 1)
        check_axis(self.axis, x.type.rank)
        require_rank(indices, x.type.rank, x.type.rank)
        check_indices(indices, x.type.shape[self.axis])
        for axis, (extent, count) in enumerate(zip(x.type.shape, indices.type.shape, strict=True)):
            if axis != self.axis:
                checks.at_least(extent, count, f"indices {indices.type} are larger than {x.type} on axis {axis}")
        return [TensorType(x.type.dtype, indices.type.shape)]

    def reference(self, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """numpy's indexing with one index array for each axis."""
        coordinates: list[np.ndarray] = list(np.indices(indices.shape))
        coordinates[self.axis] = indices
        return np.asarray(x[tuple(coordinates)])

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """One gather from the flattened data."""
        x, indices = required(inputs, 0), required(inputs, 1)
        coordinates = [
            wrapped(builder, indices, extent) if axis == self.axis else counting(builder, indices.type.shape, axis)
            for axis, extent in enumerate(x.type.shape)
        ]
        flat = builder.add1(Reshape((x.type.elements,)), x)
        return [builder.add1(Gather(0), flat, linear_index(builder, coordinates, x.type.shape))]

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The axis where it is after the permutation."""
        return replace(self, axis=permutation.index(self.axis))

    @classmethod
    def samples(cls) -> list[Sample]:
        """Every axis, fewer indices than data, negative indices, rank 1."""
        x, random = sample_array((4, 5, 6)), np.random.default_rng(7)
        samples = [Sample(cls(axis), (x, random.integers(-4, 4, (3, 5, 2))), name=f"axis_{axis}") for axis in range(3)]
        samples.append(Sample(cls(1), (x, random.integers(0, 5, (4, 2, 6))), name="equal_extents"))
        return [*samples, Sample(cls(0), (sample_array((5,)), np.array([4, 0, -5], np.int32)), name="rank_1")]
