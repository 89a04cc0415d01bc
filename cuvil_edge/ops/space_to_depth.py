"""SpaceToDepth: blocks of pixels become blocks of channels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Shape
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs, Op, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import ints, require_rank, required, sample_array
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.transpose import Transpose

_ORDERS = {"DCR": (0, 3, 5, 1, 2, 4), "CRD": (0, 1, 3, 5, 2, 4)}


@dataclass(frozen=True)
class SpaceToDepth(Op):
    """x [N, C, H, W] to [N, b ** 2 * C, H / b, W / b], where b is ``blocksize``.

    Attributes:
        mode: ``DCR``: a channel of the output is (row in the block, column, depth); ``CRD``: (depth, row, column).
    """

    blocksize: int
    mode: str = "DCR"

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """Height and width must be multiples of the block."""
        x, size = required(inputs, 0), self.blocksize
        require_rank(x, 4, 4)
        if size < 1:
            raise ShapeError("attribute blocksize", expected="at least 1", found=str(size))
        for extent in x.type.shape[2:]:
            checks.equal(extent // size * size, extent, f"{x.type} does not divide into blocks of {size}")
        return [TensorType(x.type.dtype, self._steps(x.type.shape)[1])]

    def _steps(self, shape: Shape) -> tuple[Shape, Shape]:
        """The shape to split into, and the final shape."""
        batch, channels, rows, columns = shape
        size = self.blocksize
        split = (batch, channels, rows // size, size, columns // size, size)
        return split, (batch, channels * size**2, rows // size, columns // size)

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's reshape and transpose."""
        split, final = map(ints, self._steps(x.shape))
        return np.transpose(x.reshape(split), _ORDERS[self.mode]).reshape(final)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """Reshape, transpose, reshape."""
        x = required(inputs, 0)
        split, final = self._steps(x.type.shape)
        return [
            builder.add1(Reshape(final), builder.add1(Transpose(_ORDERS[self.mode]), builder.add1(Reshape(split), x)))
        ]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Both modes, some block sizes."""
        x = sample_array((2, 3, 6, 12))
        return [Sample(cls(size, mode), (x,), name=f"{mode}_{size}") for size in (1, 2, 3) for mode in _ORDERS]
