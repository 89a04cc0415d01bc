"""Types of values: elements, bytes, text."""

from __future__ import annotations

from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.tensor_type import TensorType

N = Dim.of(Symbol("N"))


def test_sizes_follow_from_the_shape() -> None:
    static, symbolic = TensorType(DType.I16, (2, 3)), TensorType(DType.F32, (N, 3))
    assert (static.rank, static.elements, static.bytes, static.is_static) == (2, 6, 12, True)
    assert (symbolic.elements, symbolic.bytes, symbolic.is_static) == (3 * N, 12 * N, False)
    assert TensorType(DType.F64, ()).bytes == 8
    assert TensorType(DType.F64, (0, N)).bytes == 0


def test_types_read_like_arrays() -> None:
    assert str(TensorType(DType.F32, (N, 3, N + 1))) == "f32[N, 3, 1+N]"
    assert str(TensorType(DType.BOOL, ())) == "bool[]"
