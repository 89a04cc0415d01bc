"""GatherND: slices, chosen by vectors of indices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError, UnsupportedError
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import product
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import require_rank, required, sample_array
from cuvil_edge.ops._linear_index import counting, linear_index, wrapped
from cuvil_edge.ops.gather import Gather, check_indices
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.slice import Slice


@dataclass(frozen=True)
class GatherNd(Op):
    """``y[b..., i..., q...] = x[b..., indices[b..., i..., 0], indices[b..., i..., 1], ..., q...]``.

    Inputs: x, indices [b..., i..., K] (i32 or i64); negative ones count from the end.

    Attributes:
        batch_dims: the number of leading axes ``b`` that x and indices share.
    """

    batch_dims: int = 0

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The indices' shape without its last axis, then the axes of x that no index names."""
        x, indices = required(inputs, 0), required(inputs, 1)
        depth = self._depth(indices)
        require_rank(x, self.batch_dims + depth)
        check_indices(indices, None)
        for axis in range(self.batch_dims):
            checks.equal(
                x.type.shape[axis], indices.type.shape[axis], f"batch axes of {x.type} and {indices.type} differ"
            )
        return [TensorType(x.type.dtype, (*indices.type.shape[:-1], *x.type.shape[self.batch_dims + depth :]))]

    def _depth(self, indices: Value) -> int:
        require_rank(indices, self.batch_dims + 1)
        depth = indices.type.shape[-1]
        if not isinstance(depth, int):
            raise UnsupportedError("the last axis of the indices must have a fixed extent", found=str(indices.type))
        if depth < 1:
            raise ShapeError("the last axis of the indices is empty", found=str(indices.type))
        return depth

    def reference(self, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
        """numpy's indexing with one index array for each leading axis."""
        batch, rows = indices.shape[: self.batch_dims], indices.shape[:-1]
        counts = [np.broadcast_to(c.reshape(*batch, *[1] * (len(rows) - len(batch))), rows) for c in np.indices(batch)]
        return np.asarray(x[(*counts, *np.moveaxis(indices, -1, 0))])

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """One gather from data whose indexed axes are flattened."""
        x, indices = required(inputs, 0), required(inputs, 1)
        depth, rows = self._depth(indices), indices.type.shape[:-1]
        leading, rest = x.type.shape[: self.batch_dims + depth], x.type.shape[self.batch_dims + depth :]
        coordinates = [counting(builder, rows, axis) for axis in range(self.batch_dims)]
        for part in range(depth):
            column = builder.add1(Slice((part,), (part + 1,), (len(rows),), (1,)), indices)
            coordinate = builder.add1(Reshape(rows), column)
            coordinates.append(wrapped(builder, coordinate, leading[self.batch_dims + part]))
        flat = builder.add1(Reshape((product(leading), *rest)), x)
        return [builder.add1(Gather(0), flat, linear_index(builder, coordinates, leading))]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Elements, rows, batches, negative indices."""
        x = sample_array((4, 5, 6))
        return [
            Sample(cls(), (x, np.array([[0, 1, 2], [3, -1, -6]])), name="elements"),
            Sample(cls(), (x, np.array([[[0], [3]], [[-1], [2]]])), name="rows"),
            Sample(cls(), (x, np.array([[0, 1], [3, 4], [-4, 0]], np.int32)), name="vectors"),
            Sample(cls(1), (x, np.array([[1], [0], [4], [-1]])), name="batch"),
            Sample(cls(2), (x, sample_array((4, 5, 3, 1)).astype(np.int64) % 6), name="two_batch_axes"),
        ]
