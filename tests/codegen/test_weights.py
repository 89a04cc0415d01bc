"""Risks: a tensor at an unaligned offset, or another tensor's bytes."""

from __future__ import annotations

import numpy as np

from cuvil_edge.codegen.weights import WeightsBuilder
from cuvil_edge.ir.plan import ALIGNMENT_BYTES


def test_offsets_are_aligned_and_hold_the_data() -> None:
    builder, random = WeightsBuilder(), np.random.default_rng(0)
    arrays = [random.standard_normal(size).astype(np.float32) for size in (1, 3, 16, 17, 100)]
    offsets = [builder.add(array) for array in arrays]
    data = builder.to_bytes()
    assert all(offset % ALIGNMENT_BYTES == 0 for offset in offsets)
    for offset, array in zip(offsets, arrays, strict=True):
        assert data[offset : offset + array.nbytes] == array.tobytes()


def test_equal_tensors_are_stored_once() -> None:
    builder = WeightsBuilder()
    assert builder.add(np.ones(5, np.float32)) == builder.add(np.ones((1, 5), np.float32))
    assert builder.size_bytes == ALIGNMENT_BYTES


def test_transposed_views_are_stored_in_their_own_order() -> None:
    builder, array = WeightsBuilder(), np.arange(6, dtype=np.float32).reshape(2, 3)
    offset = builder.add(array.T)
    assert builder.to_bytes()[offset : offset + 24] == np.ascontiguousarray(array.T).tobytes()
