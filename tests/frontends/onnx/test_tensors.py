"""Tensors: every element type in every storage form, and sizes that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import SparseTensorProto, TensorProto, helper, numpy_helper

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.tensors import TensorReader, checked_shape, element_type
from cuvil_edge.ir.dtype import DType

READER = TensorReader(None)
TYPES = [dtype for dtype in DType if dtype is not DType.BF16]


def _array(dtype: DType) -> np.ndarray:
    values = np.array([[0, 1, 2], [100, 7, 126]])
    return (values / 3 if dtype.is_float else values % 2 if dtype is DType.BOOL else values).astype(dtype.numpy)


@pytest.mark.parametrize("dtype", TYPES)
def test_raw_and_typed_data_are_the_same(dtype: DType) -> None:
    array = _array(dtype)
    code = helper.np_dtype_to_tensor_dtype(array.dtype)
    assert element_type(code) is dtype
    raw, typed = numpy_helper.from_array(array), helper.make_tensor("t", code, array.shape, array.reshape(-1).tolist())
    assert raw.HasField("raw_data")
    assert not typed.HasField("raw_data")
    for proto in (raw, typed):
        result = READER.read(proto)
        assert result.dtype == array.dtype
        np.testing.assert_array_equal(result, array)


def test_negative_integers_survive_typed_storage() -> None:
    for code, kind in ((TensorProto.INT8, np.int8), (TensorProto.INT16, np.int16), (TensorProto.INT32, np.int32)):
        array = READER.read(helper.make_tensor("t", code, [3], [-1, -128, 5]))
        assert array.dtype == kind
        assert array.tolist() == [-1, -128, 5]


def test_empty_tensors_and_scalars() -> None:
    assert READER.read(helper.make_tensor("t", TensorProto.FLOAT, [0, 3], [])).shape == (0, 3)
    assert READER.read(helper.make_tensor("t", TensorProto.FLOAT, [], [2.5])).shape == ()


@pytest.mark.parametrize(
    ("dims", "data"),
    [([2, 3], bytes(20)), ([2, 3], bytes(28)), ([2**40], bytes(8)), ([], b""), ([3], b"\0" * 11)],
    ids=str,
)
def test_raw_data_of_another_size_is_refused(dims: list[int], data: bytes) -> None:
    proto = TensorProto(name="t", data_type=TensorProto.FLOAT, dims=dims, raw_data=data)
    with pytest.raises(ModelError, match=r"(?s)wrong size.*expected: \d+ bytes.*found"):
        READER.read(proto)


def test_typed_data_of_another_size_is_refused() -> None:
    proto = TensorProto(name="t", data_type=TensorProto.FLOAT, dims=[4], float_data=[1, 2])
    with pytest.raises(ModelError, match=r"(?s)wrong size.*expected: 4 elements"):
        READER.read(proto)


@pytest.mark.parametrize("dims", [[-1], [2, -3], [2**62, 2**62], [1] * 40], ids=str)
def test_shapes_that_cannot_be_are_refused(dims: list[int]) -> None:
    with pytest.raises(ModelError):
        checked_shape(dims, DType.F32)


@pytest.mark.parametrize(
    "code", [TensorProto.STRING, TensorProto.BFLOAT16, TensorProto.INT4, TensorProto.COMPLEX64, 0, 99]
)
def test_other_element_types_are_named(code: int) -> None:
    with pytest.raises(UnsupportedError, match="element type"):
        element_type(code)


def _sparse(indices: np.ndarray) -> SparseTensorProto:
    values = numpy_helper.from_array(np.array([5, 6], np.float32), "s")
    return helper.make_sparse_tensor(values, numpy_helper.from_array(indices), [2, 3])


def test_sparse_tensors_become_dense() -> None:
    for indices in (np.array([1, 5]), np.array([[0, 1], [1, 2]])):
        assert READER.read_sparse(_sparse(indices)).tolist() == [[0, 5, 0], [0, 0, 6]]


@pytest.mark.parametrize(
    "indices", [np.array([1, 6]), np.array([-1, 2]), np.array([[0, 3], [1, 2]]), np.array([1])], ids=str
)
def test_sparse_indices_out_of_range_are_refused(indices: np.ndarray) -> None:
    with pytest.raises(ModelError, match="sparse"):
        READER.read_sparse(_sparse(indices))


def test_external_data_without_a_folder_says_what_to_do() -> None:
    proto = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    with pytest.raises(ModelError, match="pass the path of the model file"):
        READER.read(proto)
