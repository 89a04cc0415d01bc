"""Risks: an epilogue reads the wrong operand, broadcasts the result up, or hides a value that others read."""

from __future__ import annotations

from cuvil_edge.ops.add import Add
from cuvil_edge.ops.clip import Clip
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.sigmoid import Sigmoid
from cuvil_edge.passes.fusions.fuse_elementwise_chains import FuseElementwiseChains
from cuvil_edge.passes.fusions.fuse_elementwise_into_producer import FuseElementwiseIntoProducer
from tests.passes.graphs import H, N, Sketch, W, check_same_answers, layers, operations

BOTH = [FuseElementwiseChains, FuseElementwiseIntoProducer]


def test_residual_block() -> None:
    def draw(s: Sketch):
        x = s.conv(s.input(N, 3, H, W), 8)
        y = s.conv(s.add(Relu(), s.conv(x, 8)), 8)
        return s.outputs(s.add(Clip(-1, 1), s.add(Add(), x, y)))

    graph, _ = check_same_answers(draw, BOTH)
    assert operations(graph) == {"conv": 3}
    assert layers(graph) == {f"layer{i}" for i in range(6)}


def test_x_times_sigmoid_x_reads_the_accumulator_twice() -> None:
    def draw(s: Sketch):
        y = s.conv(s.input(N, 3, H, W), 8)
        return s.outputs(s.add(Mul(), y, s.add(Sigmoid(), y)))

    graph, _ = check_same_answers(draw, BOTH)
    assert operations(graph) == {"conv": 1}


def test_two_convolutions_added_fuse_into_one_of_them() -> None:
    def draw(s: Sketch):
        x = s.input(N, 3, H, W)
        return s.outputs(s.add(Relu(), s.add(Add(), s.conv(x, 8), s.conv(x, 8, kernel=1))))

    graph, _ = check_same_answers(draw, BOTH)
    assert operations(graph) == {"conv": 2}


def test_a_result_that_broadcasts_up_is_not_an_epilogue() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Add(), s.conv(s.input(1, 3, H, W), 8), s.input(N, 8, H, W, name="z")))

    graph, [_, log] = check_same_answers(draw, BOTH)
    assert operations(graph) == {"conv": 1, "add": 1}
    assert "not of the type" in log.refusals[0]


def test_a_value_that_is_an_output_too_is_still_written() -> None:
    def draw(s: Sketch):
        y = s.conv(s.input(N, 3, H, W), 8)
        return s.outputs(y, s.add(Relu(), y))

    graph, _ = check_same_answers(draw, BOTH)
    assert operations(graph) == {"conv": 1, "relu": 1}
