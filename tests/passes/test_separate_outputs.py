"""Risk: two outputs, or an output and an input or constant, would have to be in the same memory."""

from __future__ import annotations

from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.passes.separate_outputs import SeparateOutputs
from tests.passes.graphs import H, N, Sketch, check_same_answers, operations


def written(graph: Graph) -> list[Value]:
    """What each output's bytes are: the result of a step, each a different one."""
    roots = []
    for value in graph.outputs:
        while value.producer is not None and value.producer.op.is_view:
            value = value.producer.operand(0)
        assert value.producer is not None
        roots.append(value)
    assert len(set(roots)) == len(roots)
    return roots


def test_inputs_constants_and_their_views_are_copied() -> None:
    def draw(s: Sketch):
        x = s.input(N, H)
        return s.outputs(x, s.constant(3), s.add(Reshape((N * H,)), x))

    graph, [log] = check_same_answers(draw, [SeparateOutputs])
    written(graph)
    assert log.changes == {"copied an output": 3}


def test_a_value_that_is_given_out_twice_is_copied_once() -> None:
    def draw(s: Sketch):
        y = s.add(Relu(), s.input(N, H))
        return s.outputs(y, y)

    graph, _ = check_same_answers(draw, [SeparateOutputs])
    written(graph)
    assert operations(graph) == {"relu": 1, "fused_elementwise": 1}


def test_of_a_value_and_its_views_one_is_kept() -> None:
    def draw(s: Sketch):
        y = s.add(Relu(), s.input(N, H))
        flat = s.add(Reshape((N * H,)), y)
        return s.outputs(flat, y, s.add(Reshape((N, 1, H)), flat))

    graph, [log] = check_same_answers(draw, [SeparateOutputs])
    written(graph)
    assert log.changes == {"copied an output": 2}


def test_separate_results_are_not_copied() -> None:
    def draw(s: Sketch):
        x = s.input(N, H)
        return s.outputs(s.add(Relu(), x), s.add(Reshape((N * H,)), s.add(Relu(), x)))

    graph, [log] = check_same_answers(draw, [SeparateOutputs])
    written(graph)
    assert not log.changes
