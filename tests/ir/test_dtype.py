"""Element types: sizes, and the way to numpy and back."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.ir.dtype import DType


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if dtype is not DType.BF16])
def test_numpy_types_correspond(dtype: DType) -> None:
    array = np.zeros(3, dtype.numpy)
    assert DType.of(array) is dtype
    assert array.nbytes == 3 * dtype.item_bytes
    assert dtype.is_float == (array.dtype.kind == "f")


def test_bf16_has_two_bytes_and_is_computed_in_f32() -> None:
    assert DType.BF16.item_bytes == 2
    assert DType.BF16.is_float
    assert DType.BF16.numpy == np.float32


def test_other_numpy_types_are_key_errors() -> None:
    for array in (np.zeros(1, complex), np.array(["a"]), np.array([None])):
        with pytest.raises(KeyError):
            DType.of(array)
