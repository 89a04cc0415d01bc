"""Risk: a transpose moved through a reshape that does not keep its axes together scrambles the data."""

from __future__ import annotations

import functools
import itertools
import random

import numpy as np

from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.passes.reshape_blocks import blocks_through_reshape, group_axes

N, H, W = (Dim.of(Symbol(name)) for name in "NHW")


def test_every_answer_moves_the_data_like_the_original() -> None:
    source = random.Random(0)
    found = 0
    for _ in range(1500):
        shape = tuple(source.choice([1, 2, 3]) for _ in range(4))
        back = tuple(source.sample(range(4), 4))
        target = source.choice(factorisations(int(np.prod(shape))))
        answer = blocks_through_reshape(shape, back, target)
        if answer is None:
            continue
        found += 1
        x = np.arange(np.prod(shape)).reshape(shape)
        expected = x.transpose(back).reshape(target)
        np.testing.assert_array_equal(x.reshape(answer[0]).transpose(answer[1]), expected, err_msg=f"{shape} {back}")
    assert found > 200


@functools.cache
def factorisations(count: int) -> list[tuple[int, ...]]:
    """Shapes of rank 1 to 4 with ``count`` elements."""
    divisors = [d for d in range(1, count + 1) if count % d == 0]
    return [s for rank in range(1, 5) for s in itertools.product(divisors, repeat=rank) if np.prod(s) == count]


def test_flattened_pixels_stay_channels_last() -> None:
    assert blocks_through_reshape((N, H, W, 192), (0, 3, 1, 2), (N, 192, H * W)) == ((N, H * W, 192), (0, 2, 1))


def test_pooled_features_need_no_transpose() -> None:
    assert blocks_through_reshape((N, 1, 1, 1280), (0, 3, 1, 2), (N, 1280)) == ((N, 1280), (0, 1))


def test_merging_across_the_moved_axis_is_refused() -> None:
    assert blocks_through_reshape((N, H, W, 192), (0, 3, 1, 2), (N, 192 * H, W)) is None


def test_groups_are_the_finest() -> None:
    assert group_axes((2, 3, 4), (6, 4)) == [((0, 1), (0,)), ((2,), (1,))]
    assert group_axes((N, H * 2), (N, H, 2)) == [((0,), (0,)), ((1,), (1, 2))]
    assert group_axes((N, H), (H, N)) is None
