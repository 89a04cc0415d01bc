"""Matmul: matrix product, broadcast over leading axes (ONNX MatMul)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Checks, broadcast_shapes
from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Cost, Inputs, Sample
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._epilogue import EpilogueOp, apply_epilogue, epilogue_flops, sample_epilogue, with_epilogue
from cuvil_edge.ops._inputs import (
    accumulator,
    optional,
    require_rank,
    require_same_dtype,
    require_shape,
    required,
    sample_array,
)


@dataclass(frozen=True)
class Matmul(EpilogueOp):
    """``y[..., m, n] = bias[n] + sum over k of a[..., m, k] * b[..., k, n]``.

    Inputs: a [..., M, K], b [..., K, N], bias [N] or None, then the operands of the epilogue, which broadcast to the
    output. Leading axes broadcast. An operand of rank 1 is a row (a) or a column (b), and its axis M or N is dropped.

    Attributes:
        transpose_a, transpose_b: the last two axes of the operand are stored swapped.
    """

    transpose_a: bool = False
    transpose_b: bool = False

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """Leading axes broadcast; the inner extents must be equal."""
        a, b, bias = required(inputs, 0), required(inputs, 1), optional(inputs, 2)
        require_same_dtype(a, b, bias)
        require_rank(a, 2 if self.transpose_a else 1)
        require_rank(b, 2 if self.transpose_b else 1)
        if a.type.dtype is DType.BOOL:
            raise ShapeError("a matrix product of bools is not defined")
        left, right = self._matrices(a.type.shape, b.type.shape)
        checks.equal(left[-1], right[-2], f"inner extents differ: {a.type} times {b.type}")
        batch = broadcast_shapes([left[:-2], right[:-2]], checks, f"leading axes differ: {a.type} times {b.type}")
        shape = (*batch, *left[-2:-1] * (a.type.rank > 1), *right[-1:] * (b.type.rank > 1))
        if bias is not None:
            require_rank(b, 2)
            require_shape(bias, [right[-1]], checks, "bias")
        return [with_epilogue(TensorType(a.type.dtype, shape), self.epilogue, inputs[3:], checks)]

    def _matrices(self, a: tuple[Extent, ...], b: tuple[Extent, ...]) -> tuple[tuple[Extent, ...], tuple[Extent, ...]]:
        """Shapes [..., M, K] and [..., K, N] of the operands."""
        left = (1, *a) if len(a) == 1 else (*a[:-2], a[-1], a[-2]) if self.transpose_a else a
        right = (*b, 1) if len(b) == 1 else (*b[:-2], b[-1], b[-2]) if self.transpose_b else b
        return left, right

    def reference(
        self, a: np.ndarray, b: np.ndarray, bias: np.ndarray | None = None, *operands: np.ndarray | None
    ) -> np.ndarray:
        """numpy's matrix product in float64 (integers in their own type)."""
        left = np.swapaxes(a, -1, -2) if self.transpose_a else a
        right = np.swapaxes(b, -1, -2) if self.transpose_b else b
        y = np.matmul(accumulator(left), accumulator(right))
        if bias is not None:
            y = y + bias
        return apply_epilogue(np.asarray(y).astype(a.dtype), self.epilogue, operands)

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """Two flops for each multiply-add."""
        traffic, a = super().cost(inputs, outputs), inputs[0]
        assert a is not None
        inner = a.shape[-2] if self.transpose_a else a.shape[-1]
        flops = outputs[0].elements * (2 * inner + epilogue_flops(self.epilogue))
        return Cost(flops, traffic.bytes_read, traffic.bytes_written)

    @classmethod
    def samples(cls) -> list[Sample]:
        """Ranks 1 to 4, broadcasting of either side, transposes, weights, bias, epilogue, odd and empty sizes."""
        plain = [
            ("2d", (7, 5), (5, 9)),
            ("odd", (13, 33), (33, 17)),
            ("row", (1, 31), (31, 10)),
            ("column", (9, 31), (31, 1)),
            ("batch", (2, 3, 4, 5), (2, 3, 5, 6)),
            ("broadcast_left", (4, 5), (3, 5, 6)),
            ("broadcast_right", (2, 3, 4, 5), (5, 6)),
            ("broadcast_both", (2, 1, 4, 5), (3, 5, 6)),
            ("vector_matrix", (5,), (2, 5, 6)),
            ("matrix_vector", (2, 4, 5), (5,)),
            ("vectors", (5,), (5,)),
            ("no_rows", (0, 5), (5, 3)),
            ("no_inner", (4, 0), (0, 3)),
        ]
        samples = [Sample(cls(), (sample_array(a, 1), sample_array(b, 2)), name=name) for name, a, b in plain]
        ints = tuple(sample_array(shape, dtype=DType.I32) for shape in ((3, 4), (4, 5)))
        samples += [
            Sample(cls(transpose_a=True), (sample_array((2, 5, 7)), sample_array((2, 5, 9))), name="transpose_a"),
            Sample(cls(transpose_b=True), (sample_array((2, 7, 5)), sample_array((9, 5))), name="transpose_b"),
            Sample(cls(True, True), (sample_array((5, 7)), sample_array((9, 5))), name="transpose_both"),
            Sample(cls(), (sample_array((3, 7, 5)), sample_array((5, 9)), sample_array((9,))), (1, 2), "weights"),
            Sample(cls(), ints, name="i32"),
        ]
        epilogue = cls(transpose_b=True, epilogue=sample_epilogue())
        operands = (sample_array((3, 7, 5)), sample_array((9, 5)), sample_array((9,)), sample_array((7, 1)))
        return [*samples, Sample(epilogue, operands, (1, 2), "epilogue")]
