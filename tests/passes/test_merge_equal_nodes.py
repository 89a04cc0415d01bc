"""Risks: nodes are merged that only look alike, or a merge takes an output or a layer name away."""

from __future__ import annotations

from cuvil_edge.ops.add import Add
from cuvil_edge.ops.clip import Clip
from cuvil_edge.ops.exp import Exp
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.split import Split
from cuvil_edge.ops.sub import Sub
from cuvil_edge.passes.merge_equal_nodes import MergeEqualNodes
from tests.passes.graphs import H, N, Sketch, check_same_answers, layers, operations


def test_equal_chains_become_one() -> None:
    def draw(s: Sketch):
        x = s.input(N, H)
        left, right = (s.add(Exp(), s.add(Relu(), x)) for _ in range(2))
        return s.outputs(s.add(Add(), left, right))

    graph, _ = check_same_answers(draw, [MergeEqualNodes])
    assert operations(graph) == {"relu": 1, "exp": 1, "add": 1}
    assert layers(graph) == {f"layer{index}" for index in range(5)}


def test_attributes_and_the_order_of_operands_count() -> None:
    def draw(s: Sketch):
        x, z = s.input(N, H), s.input(N, H, name="z")
        clips = s.add(Mul(), s.add(Clip(-1, 1), x), s.add(Clip(-1, 2), x))
        return s.outputs(s.add(Mul(), clips, s.add(Mul(), s.add(Sub(), x, z), s.add(Sub(), z, x))))

    assert operations(check_same_answers(draw, [MergeEqualNodes])[0]) == {"clip": 2, "sub": 2, "mul": 3}


def test_two_outputs_stay_two() -> None:
    def draw(s: Sketch):
        x = s.input(N, H)
        return s.outputs(s.add(Relu(), x), s.add(Relu(), x))

    graph, _ = check_same_answers(draw, [MergeEqualNodes])
    assert operations(graph) == {"relu": 2}
    assert graph.outputs[0] is not graph.outputs[1]


def test_every_output_of_a_merged_node_is_replaced() -> None:
    def draw(s: Sketch):
        x = s.input(4, H)
        parts = [s.builder.add(Split(0, (1, 3)), [x], name=f"split{i}", layers=(f"split{i}",)) for i in range(2)]
        return s.outputs(s.add(Add(), parts[0][0], parts[1][1]))

    graph, _ = check_same_answers(draw, [MergeEqualNodes])
    assert operations(graph) == {"split": 1, "add": 1}
