"""Risks: a column is lost at the edge of a panel, padding is not zero, the order is not the kernels'."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cuvil_edge.kernels.panels import pack_panels, pad_vector


@pytest.mark.parametrize("lanes", [1, 4, 16])
@pytest.mark.parametrize("vectors", [1, 2, 3])
def test_every_element_is_where_the_kernels_read_it(lanes: int, vectors: int) -> None:
    for depth, columns in itertools.product((0, 1, 5), (0, 1, 15, 16, 17, 32, 33, 96, 100)):
        matrix = np.random.default_rng(0).standard_normal((depth, columns)).astype(np.float32)
        width, padded = vectors * lanes, -(-columns // lanes) * lanes
        packed = pack_panels(matrix, width, lanes)
        assert packed.dtype == np.float32
        assert packed.size == depth * padded
        for column in range(padded):
            start = column // width * width
            panel_columns = min(width, padded - start)
            panel = packed[depth * start :][: depth * panel_columns].reshape(depth, panel_columns)
            want = matrix[:, column] if column < columns else np.zeros(depth)
            np.testing.assert_array_equal(panel[:, column - start], want)


def test_a_vector_is_padded_to_whole_vectors() -> None:
    np.testing.assert_array_equal(pad_vector(np.arange(1, 6), 4), [1, 2, 3, 4, 5, 0, 0, 0])
    assert pad_vector(np.zeros(8), 4).size == 8
    assert pad_vector(np.zeros(0), 4).size == 0
    assert pad_vector(np.arange(3), 1).dtype == np.float32
