"""Indices in the data: what is outside its axis is refused, never read."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.ir.op import Sample
from cuvil_edge.ops.gather import Gather
from tests.kernels.harness import Build, lowered, run_cases

CUVIL_BAD_INDEX = 2


@pytest.mark.parametrize("index", [4, -5, 2**31 - 1, -(2**31), 2**62, -(2**63)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("axis", [0, 1])
def test_an_index_outside_the_axis_is_refused(sanitized: Build, index: int, dtype: type, axis: int) -> None:
    if abs(index) > 2**31 and dtype is np.int32:
        pytest.skip("not a 32-bit index")
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    valid = Sample(Gather(axis), (x, np.array([3, 0, -4], dtype)))
    (case,), _ = lowered([("gather", valid)], sanitized)
    indices = case.node.inputs[1]
    assert indices is not None
    case.arrays[indices] = np.array([3, index, -4], dtype)
    case.expected_status = CUVIL_BAD_INDEX
    failures, _ = run_cases(sanitized, [case])
    assert not failures, failures
