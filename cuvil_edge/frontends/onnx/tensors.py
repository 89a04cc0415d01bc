"""ONNX tensors as numpy arrays, with every size checked before memory is taken."""

from __future__ import annotations

import sys
from math import prod

import numpy as np
from onnx import SparseTensorProto, TensorProto

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.external_data import ModelFolder
from cuvil_edge.ir.dtype import DType

_DTYPES: dict[int, tuple[DType, str]] = {
    TensorProto.FLOAT: (DType.F32, "float_data"),
    TensorProto.FLOAT16: (DType.F16, "int32_data"),
    TensorProto.DOUBLE: (DType.F64, "double_data"),
    TensorProto.INT8: (DType.I8, "int32_data"),
    TensorProto.UINT8: (DType.U8, "int32_data"),
    TensorProto.INT16: (DType.I16, "int32_data"),
    TensorProto.UINT16: (DType.U16, "int32_data"),
    TensorProto.INT32: (DType.I32, "int32_data"),
    TensorProto.UINT32: (DType.U32, "uint64_data"),
    TensorProto.INT64: (DType.I64, "int64_data"),
    TensorProto.UINT64: (DType.U64, "uint64_data"),
    TensorProto.BOOL: (DType.BOOL, "int32_data"),
}
_NAMES: dict[int, str] = {value: name.lower() for name, value in TensorProto.DataType.items()}
MAX_BYTES = 2**62
"""No tensor is larger: offsets and sums of sizes must fit 64 bits."""


def element_type(code: int) -> DType:
    """The element type of an ONNX type number; UnsupportedError for strings, complex and sub-byte types."""
    if code not in _DTYPES:
        name = _NAMES.get(code, f"number {code}")
        raise UnsupportedError(f"element type {name} is not supported", expected=", ".join(d.value for d in DType))
    return _DTYPES[code][0]


class TensorReader:
    """Reads tensors of one model, whose external data lies in ``folder`` (None: there is no folder)."""

    def __init__(self, folder: ModelFolder | None) -> None:
        self._folder = folder

    def read(self, proto: TensorProto) -> np.ndarray:
        """The elements.

        Raises:
            ModelError: the data does not have the size that the shape needs, or external data cannot be had.
            UnsupportedError: the element type is not supported.
        """
        dtype = element_type(proto.data_type)
        shape = checked_shape(proto.dims, dtype)
        count = prod(shape)
        if proto.data_location == TensorProto.EXTERNAL:
            array = self._external(proto, dtype, count)
        elif proto.HasField("raw_data"):
            array = _from_bytes(proto.raw_data, dtype, count)
        else:
            array = _from_typed(proto, dtype, count)
        if dtype is DType.BOOL:
            array = array.view(np.uint8) != 0
        return array.reshape(shape)

    def read_sparse(self, proto: SparseTensorProto) -> np.ndarray:
        """A sparse tensor's elements, dense: ``indices`` are linear [NNZ] or coordinates [NNZ, rank]."""
        values, indices = self.read(proto.values), self.read(proto.indices)
        shape = checked_shape(proto.dims, DType.of(values))
        if values.ndim != 1 or indices.shape not in ((len(values),), (len(values), len(shape))):
            raise ModelError("a sparse tensor's indices do not fit its values")
        if indices.ndim == 2:
            limits = np.asarray(shape)
            inside = bool(np.all((indices >= 0) & (indices < limits)))
            positions = tuple(indices.T)
        else:
            inside = bool(np.all((indices >= 0) & (indices < prod(shape))))
            positions = np.unravel_index(indices, shape) if inside and len(values) else ()
        if not inside:
            raise ModelError("a sparse tensor's index is out of range")
        try:
            dense = np.zeros(shape, values.dtype)
        except MemoryError:
            raise ModelError("a sparse tensor does not fit into memory", found=str(list(shape))) from None
        if len(values):
            dense[positions] = values
        return dense

    def _external(self, proto: TensorProto, dtype: DType, count: int) -> np.ndarray:
        if self._folder is None:
            raise ModelError(
                f"tensor {proto.name!r} keeps its data in another file",
                hint="pass the path of the model file, so that its folder is known",
            )
        entries = {entry.key: entry.value for entry in proto.external_data}
        data = self._folder.read(entries, count * dtype.item_bytes)
        return _from_bytes(data, dtype, count)


def checked_shape(dims: object, dtype: DType) -> tuple[int, ...]:
    """The shape; ModelError for a negative extent, or more bytes than can be addressed."""
    shape = tuple(int(extent) for extent in dims)  # type: ignore[attr-defined]
    if any(extent < 0 for extent in shape):
        raise ModelError("a tensor has a negative extent", found=str(list(shape)))
    if prod(shape) * dtype.item_bytes >= MAX_BYTES or len(shape) > 32:
        raise ModelError("a tensor is too large", found=str(list(shape)))
    return shape


def _from_bytes(data: bytes | np.ndarray, dtype: DType, count: int) -> np.ndarray:
    if len(data) != count * dtype.item_bytes:
        raise ModelError(
            "a tensor's data has a wrong size", expected=f"{count * dtype.item_bytes} bytes", found=f"{len(data)} bytes"
        )
    array = np.frombuffer(data, dtype.numpy.newbyteorder("<"))
    return array if sys.byteorder == "little" else array.astype(dtype.numpy)


def _from_typed(proto: TensorProto, dtype: DType, count: int) -> np.ndarray:
    field = _DTYPES[proto.data_type][1]
    data = getattr(proto, field)
    if len(data) != count:
        raise ModelError(
            "a tensor's data has a wrong size", expected=f"{count} elements", found=f"{len(data)} elements"
        )
    if dtype is DType.F16:
        return np.array(data, np.int64).astype(np.uint16).view(np.float16)
    if field == "int32_data":
        return np.array(data, np.int32).astype(dtype.numpy)
    return np.array(data, np.uint64).astype(dtype.numpy) if field == "uint64_data" else np.array(data, dtype.numpy)
