"""Names and dtypes between numpy and the model."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.artifact.manifest import TensorInfo
from cuvil_edge.artifact.parts import DTYPES
from cuvil_edge.runtime.arrays import as_buffer, by_position, checked_input, numpy_dtype, show_shape


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_has_its_size(dtype: str) -> None:
    digits = "".join(c for c in dtype if c.isdigit()) or "8"
    assert numpy_dtype(dtype).itemsize * 8 == int(digits)
    array = np.zeros((2, 3), numpy_dtype(dtype))
    view = memoryview(as_buffer(array))
    assert view.nbytes == array.nbytes


def test_as_buffer_shares_memory() -> None:
    array = np.zeros(3, numpy_dtype("bf16"))
    assert np.shares_memory(as_buffer(array), array)


def test_contiguous_arrays_are_not_copied() -> None:
    array = np.zeros((2, 3), np.float32)
    assert checked_input(array, TensorInfo("x", "f32", (2, 3)), np.dtype(np.float32)) is array


def test_a_model_without_inputs() -> None:
    assert by_position((), ()) == ([], False)
    assert by_position(({},), ()) == ([], True)


def test_show_shape() -> None:
    assert show_shape(("N", 3)) == "[N, 3]"
    assert show_shape(()) == "[]"
