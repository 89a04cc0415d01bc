"""Risks: work is repeated under broadcasting, operands are mixed up, a loop grows without bound."""

from __future__ import annotations

from cuvil_edge.ops.add import Add
from cuvil_edge.ops.exp import Exp
from cuvil_edge.ops.greater import Greater
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.neg import Neg
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.sub import Sub
from cuvil_edge.ops.where import Where
from cuvil_edge.passes.fusions.fuse_elementwise_chains import FuseElementwiseChains
from tests.passes.graphs import H, N, Sketch, W, check_same_answers, layers, operations


def test_a_chain_becomes_one_loop() -> None:
    def draw(s: Sketch):
        x = s.input(N, H, W)
        y = s.add(Sub(), s.add(Relu(), x), s.add(Mul(), x, s.constant(1, 1)))
        return s.outputs(s.add(Neg(), s.add(Sub(), y, s.input(N, H, W, name="z"))))

    graph, _ = check_same_answers(draw, [FuseElementwiseChains])
    assert operations(graph) == {"fused_elementwise": 1}
    assert layers(graph) == {f"layer{i}" for i in range(5)}


def test_masks_ride_along() -> None:
    def draw(s: Sketch):
        x, z = s.input(N, H, W), s.input(N, H, W, name="z")
        return s.outputs(s.add(Where(), s.add(Greater(), x, z), x, s.add(Exp(), z)))

    graph, _ = check_same_answers(draw, [FuseElementwiseChains])
    assert operations(graph) == {"fused_elementwise": 1}


def test_a_smaller_operand_is_computed_once() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Add(), s.input(N, H, W), s.add(Exp(), s.input(1, 1, W, name="z"))))

    graph, [log] = check_same_answers(draw, [FuseElementwiseChains])
    assert operations(graph) == {"add": 1, "exp": 1}
    assert "fewer elements" in log.refusals[0]


def test_long_chains_are_cut() -> None:
    def draw(s: Sketch):
        y = s.input(N, H, W)
        for _ in range(150):
            y = s.add(Add(), y, s.constant(1, 1))
        return s.outputs(y)

    graph, _ = check_same_answers(draw, [FuseElementwiseChains])
    assert 4 <= sum(operations(graph).values()) <= 60
