"""DepthToSpace: blocks of channels become blocks of pixels."""

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


@dataclass(frozen=True)
class DepthToSpace(Op):
    """x [N, C, H, W] to [N, C / b ** 2, H * b, W * b], where b is ``blocksize``.

    Attributes:
        mode: ``DCR``: a channel is (row in the block, column, depth); ``CRD``: (depth, row, column).
    """

    blocksize: int
    mode: str = "DCR"

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The channels must be a multiple of the block's pixels."""
        x, area = required(inputs, 0), self.blocksize**2
        require_rank(x, 4, 4)
        if self.blocksize < 1:
            raise ShapeError("attribute blocksize", expected="at least 1", found=str(self.blocksize))
        channels = x.type.shape[1]
        checks.equal(channels, channels // area * area, f"channels of {x.type} do not divide into blocks of {area}")
        return [TensorType(x.type.dtype, self._steps(x.type.shape)[2])]

    def _steps(self, shape: Shape) -> tuple[Shape, tuple[int, ...], Shape]:
        """The shape to split into, the order of its axes, and the final shape."""
        batch, channels, rows, columns = shape
        size, depth = self.blocksize, channels // self.blocksize**2
        final = (batch, depth, rows * size, columns * size)
        if self.mode == "DCR":
            return (batch, size, size, depth, rows, columns), (0, 3, 4, 1, 5, 2), final
        return (batch, depth, size, size, rows, columns), (0, 1, 4, 2, 5, 3), final

    def reference(self, x: np.ndarray) -> np.ndarray:
        """numpy's reshape and transpose."""
        split, order, final = self._steps(x.shape)
        return np.transpose(x.reshape(ints(split)), order).reshape(ints(final))

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """Reshape, transpose, reshape."""
        x = required(inputs, 0)
        split, order, final = self._steps(x.type.shape)
        return [builder.add1(Reshape(final), builder.add1(Transpose(order), builder.add1(Reshape(split), x)))]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Both modes, two block sizes."""
        x = sample_array((2, 36, 3, 5))
        return [Sample(cls(size, mode), (x,), name=f"{mode}_{size}") for size in (1, 2, 3) for mode in ("DCR", "CRD")]
