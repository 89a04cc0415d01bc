"""Comparison with the reference: what passes and what does not, NaN and infinities included."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.cli._verify import compare

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("got", "wanted", "mismatches"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0),
        ([100.009, 0.0], [100.0, 0.0], 0),
        ([100.02, 0.0], [100.0, 0.0], 1),
        ([0.0, 0.009], [100.0, 0.0], 1),
        ([NAN, 1.0], [NAN, 1.0], 0),
        ([NAN, 1.0], [1.0, 1.0], 1),
        ([1.0, 1.0], [NAN, 1.0], 1),
        ([INF, 1.0], [INF, 1.0], 0),
        ([-INF, 1.0], [INF, 1.0], 1),
        ([INF, 1.0], [1.0, 1.0], 1),
        ([1.0, 1.0], [INF, 1.0], 1),
        ([0.0, 0.0], [0.0, 0.0], 0),
    ],
)
def test_floats(got, wanted, mismatches):
    result = compare("y", np.array(got, np.float32), np.array(wanted, np.float32), 1e-4, 1e-6)
    assert result.mismatches == mismatches


def test_errors_are_relative_to_the_range():
    result = compare("y", np.array([9.0, 0.0]), np.array([10.0, 0.0]), 1e-4, 0)
    assert (result.max_abs_error, result.max_rel_error) == (1.0, 0.1)


def test_integers_must_be_equal():
    assert compare("y", np.array([1, 2]), np.array([1, 3]), 1.0, 1.0).mismatches == 1


def test_another_shape_is_all_wrong():
    assert compare("y", np.zeros((2, 3)), np.zeros((3, 2)), 1e-4, 0).mismatches == 6
    assert compare("y", np.zeros((0, 3)), np.zeros((3, 2)), 1e-4, 0).mismatches > 0
