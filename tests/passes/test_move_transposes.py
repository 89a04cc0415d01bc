"""Risks: data is scrambled, or transposes stay in the program where they could cancel."""

from __future__ import annotations

import pytest

from cuvil_edge.ops.add import Add
from cuvil_edge.ops.concat import Concat
from cuvil_edge.ops.max_pool import MaxPool
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.reduce_mean import ReduceMean
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.sigmoid import Sigmoid
from cuvil_edge.ops.transpose import Transpose
from cuvil_edge.passes.move_transposes import MoveTransposes
from cuvil_edge.passes.use_channels_last import UseChannelsLast
from tests.passes.graphs import H, N, Sketch, W, check_same_answers, operations

PASSES = [UseChannelsLast, MoveTransposes]


def test_a_chain_of_convolutions_has_two_transposes() -> None:
    def draw(s: Sketch):
        y = s.conv(s.input(N, 3, H, W), 8)
        for _ in range(3):
            y = s.add(Relu(), s.conv(y, 8))
        return s.outputs(y)

    assert operations(check_same_answers(draw, PASSES)[0])["transpose"] == 2


def test_squeeze_and_excite_stays_channels_last() -> None:
    def draw(s: Sketch):
        y = s.conv(s.input(N, 3, H, W), 8)
        gate = s.conv(s.add(Relu(), s.conv(s.add(ReduceMean((2, 3), True), y), 2, kernel=1)), 8, kernel=1)
        return s.outputs(s.conv(s.add(Mul(), y, s.add(Sigmoid(), gate)), 5))

    assert operations(check_same_answers(draw, PASSES)[0])["transpose"] == 2


def test_concatenation_along_channels() -> None:
    def draw(s: Sketch):
        x = s.conv(s.input(N, 3, H, W), 8)
        y = s.add(Concat(1), x, s.conv(x, 5), s.conv(x, 3))
        return s.outputs(s.conv(y, 4, kernel=1))

    assert operations(check_same_answers(draw, PASSES)[0])["transpose"] == 2


def test_constants_are_transposed_while_compiling() -> None:
    def draw(s: Sketch):
        y = s.add(Add(), s.conv(s.input(N, 3, 6, 10), 8), s.constant(1, 8, 6, 10))
        y = s.add(Add(), y, s.constant(6, 10))
        return s.outputs(s.conv(y, 4))

    assert operations(check_same_answers(draw, PASSES)[0])["transpose"] == 2


def test_pooled_features_are_flattened_as_a_view() -> None:
    def draw(s: Sketch):
        y = s.add(ReduceMean((2, 3), True), s.conv(s.input(N, 3, H, W), 8))
        return s.outputs(s.add(Reshape((N, 8)), y))

    assert operations(check_same_answers(draw, PASSES)[0])["transpose"] == 1


def test_patches_become_tokens_without_moving() -> None:
    def draw(s: Sketch):
        y = s.conv(s.input(N, 3, H, W), 8)
        return s.outputs(s.add(Transpose((0, 2, 1)), s.add(Reshape((N, 8, H * W)), y)))

    assert operations(check_same_answers(draw, PASSES)[0])["transpose"] == 1


def test_a_flatten_that_mixes_channels_and_pixels_keeps_its_order() -> None:
    def draw(s: Sketch):
        y = s.add(MaxPool((2, 2), (2, 2), (0,) * 4, (1, 1)), s.conv(s.input(N, 3, 6, 10), 8))
        return s.outputs(s.add(Reshape((N, 120)), y))

    assert operations(check_same_answers(draw, PASSES)[0])["transpose"] == 2


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (3, 2, 1, 0), (1, 0, 3, 2)])
def test_any_permutation_cancels_with_its_inverse(order: tuple[int, ...]) -> None:
    def draw(s: Sketch):
        y = s.add(Relu(), s.add(Transpose(order), s.input(N, 3, H, W)))
        back = tuple(order.index(axis) for axis in range(4))
        return s.outputs(s.add(Transpose(back), y))

    assert operations(check_same_answers(draw, PASSES)[0]) == {"relu": 1}
