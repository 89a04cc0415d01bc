"""Element types, with the one spelling that is used everywhere."""

from __future__ import annotations

from enum import Enum

import numpy as np


class DType(Enum):
    """The type of a tensor's elements."""

    F32 = "f32"
    F16 = "f16"
    BF16 = "bf16"
    F64 = "f64"
    I8 = "i8"
    U8 = "u8"
    I16 = "i16"
    U16 = "u16"
    I32 = "i32"
    U32 = "u32"
    I64 = "i64"
    U64 = "u64"
    BOOL = "bool"

    @property
    def item_bytes(self) -> int:
        """Bytes of one element in memory."""
        return _ITEM_BYTES[self]

    @property
    def is_float(self) -> bool:
        """True for the floating-point types."""
        return self in (DType.F32, DType.F16, DType.BF16, DType.F64)

    @property
    def numpy(self) -> np.dtype:
        """The numpy type; bf16 has none of its own and is computed in float32 by the references."""
        return np.dtype(_NUMPY[self])

    @classmethod
    def of(cls, array: np.ndarray) -> DType:
        """The element type of a numpy array; KeyError for types that are not in this list."""
        return _FROM_NUMPY[np.dtype(array.dtype)]


_NUMPY = {
    DType.F32: "float32",
    DType.F16: "float16",
    DType.BF16: "float32",
    DType.F64: "float64",
    DType.I8: "int8",
    DType.U8: "uint8",
    DType.I16: "int16",
    DType.U16: "uint16",
    DType.I32: "int32",
    DType.U32: "uint32",
    DType.I64: "int64",
    DType.U64: "uint64",
    DType.BOOL: "bool",
}
_ITEM_BYTES = {dtype: np.dtype(name).itemsize for dtype, name in _NUMPY.items()} | {DType.BF16: 2}
_FROM_NUMPY = {np.dtype(name): dtype for dtype, name in _NUMPY.items() if dtype is not DType.BF16}
