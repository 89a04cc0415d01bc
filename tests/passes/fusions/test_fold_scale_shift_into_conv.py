"""Risks: the scale meets the wrong channels, a shared result is folded away, a bias is lost."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.ops.add import Add
from cuvil_edge.ops.conv_transpose import ConvTranspose
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.sub import Sub
from cuvil_edge.passes.fusions.fold_scale_shift_into_conv import FoldScaleShiftIntoConv
from tests.passes.graphs import H, N, Sketch, W, check_same_answers, layers, operations


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("group", [1, 2, 6])
def test_scale_and_shift_per_channel(group: int, bias: bool) -> None:
    def draw(s: Sketch):
        y = s.conv(s.input(N, 6, H, W), 12, group=group, bias=bias)
        y = s.add(Mul(), y, s.constant(12, 1, 1))
        y = s.add(Add(), s.constant(1, 12, 1, 1), y)
        return s.outputs(s.add(Sub(), y, s.constant(1)))

    graph, _ = check_same_answers(draw, [FoldScaleShiftIntoConv])
    assert operations(graph) == {"conv": 1}
    assert layers(graph) == {"layer0", "layer1", "layer2", "layer3"}


@pytest.mark.parametrize("group", [1, 3])
def test_transposed_convolution_scales_its_output_channels(group: int) -> None:
    def draw(s: Sketch):
        op = ConvTranspose((2, 2), (0, 0, 0, 0), (1, 1), (0, 0), group=group)
        y = s.add(op, s.input(N, 6, H, W), s.constant(6, 4, 2, 2), s.constant(4 * group))
        return s.outputs(s.add(Mul(), y, s.constant(4 * group, 1, 1)))

    graph, _ = check_same_answers(draw, [FoldScaleShiftIntoConv])
    assert operations(graph) == {"conv_transpose": 1}


def test_both_orders_of_subtraction_and_division() -> None:
    def draw(s: Sketch):
        y = s.add(Sub(), s.constant(5, 1, 1), s.conv(s.input(N, 3, H, W), 5))
        z = s.add(Div(), s.conv(s.graph.inputs[0], 5), s.constant(5, 1, 1))
        return s.outputs(y, z, s.add(Div(), s.constant(5, 1, 1), s.conv(s.graph.inputs[0], 5)))

    graph, _ = check_same_answers(draw, [FoldScaleShiftIntoConv])
    assert operations(graph) == {"conv": 3, "div": 1}


def test_a_result_used_twice_stays_and_the_reason_is_told() -> None:
    def draw(s: Sketch):
        y = s.conv(s.input(N, 3, H, W), 5)
        return s.outputs(s.add(Mul(), y, s.constant(5, 1, 1)), y)

    graph, [log] = check_same_answers(draw, [FoldScaleShiftIntoConv])
    assert operations(graph) == {"conv": 1, "mul": 1}
    assert "used elsewhere" in log.refusals[0]


def test_a_division_by_zero_stays_one() -> None:
    def draw(s: Sketch):
        zeros = s.builder.constant(np.array([1, 0, 2], np.float32).reshape(3, 1, 1), "zeros")
        return s.outputs(s.add(Div(), s.conv(s.input(N, 3, H, W), 3), zeros))

    graph, _ = check_same_answers(draw, [FoldScaleShiftIntoConv])
    assert operations(graph) == {"conv": 1, "div": 1}


def test_a_scale_along_width_is_not_a_channel_scale() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Mul(), s.conv(s.input(N, 3, H, 10), 10), s.constant(10)))

    graph, _ = check_same_answers(draw, [FoldScaleShiftIntoConv])
    assert operations(graph) == {"conv": 1, "mul": 1}


def test_a_refusal_that_a_later_sweep_overtakes_is_not_told() -> None:
    def draw(s: Sketch):
        y = s.add(Mul(), s.conv(s.input(N, 3, H, W), 5), s.constant(5, 1, 1))
        return s.outputs(s.add(Add(), y, s.constant(5, 1, 1)))

    graph, [log] = check_same_answers(draw, [FoldScaleShiftIntoConv])
    assert operations(graph) == {"conv": 1}
    assert log.refusals == []
