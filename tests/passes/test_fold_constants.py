"""Risks: run-time data is folded, a type changes in the fold, a small model becomes a huge file, shapes stay steps."""

from __future__ import annotations

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.cast import Cast
from cuvil_edge.ops.concat import Concat
from cuvil_edge.ops.constant_of_shape import ConstantOfShape
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.expand import Expand
from cuvil_edge.ops.gather import Gather
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.shape import Shape
from cuvil_edge.ops.split import Split
from cuvil_edge.passes.base import PassLog
from cuvil_edge.passes.fold_constants import FoldConstants
from cuvil_edge.passes.materialise_extents import MaterialiseExtents
from tests.passes.graphs import H, N, Sketch, W, check_same_answers, operations


def test_constants_are_computed_and_what_reads_data_stays() -> None:
    def draw(s: Sketch):
        offset = s.add(Mul(), s.add(Relu(), s.constant(3, 4)), s.constant(4))
        return s.outputs(s.add(Add(), s.input(N, 3, 4), offset))

    graph, [log] = check_same_answers(draw, [FoldConstants])
    assert operations(graph) == {"add": 1}
    assert graph.nodes[0].operand(1).data.dtype == np.float32
    assert log.changes == {"folded relu": 1, "folded mul": 1}


def test_all_outputs_of_a_node_are_folded() -> None:
    def draw(s: Sketch):
        [first, second] = s.builder.add(Split(0, (1, 2)), [s.constant(3, 4)], name="split", layers=("split",))
        return s.outputs(s.add(Add(), s.add(Add(), s.input(N, 2, 4), first), second))

    assert operations(check_same_answers(draw, [FoldConstants])[0]) == {"add": 2}


def test_a_constant_that_would_grow_without_measure_stays_a_step() -> None:
    s = Sketch()
    wide = s.add(Expand((1 << 12, 1 << 13)), s.constant(1))
    small = s.add(Expand((8, 8)), s.constant(1))
    graph = s.outputs(s.add(Relu(), wide), s.add(Add(), s.input(8, 8), small))
    log = PassLog("fold")
    FoldConstants().apply(graph, log)
    assert operations(graph) == {"expand": 1, "relu": 1, "add": 1}
    assert log.changes == {"folded expand": 1}


def test_a_constant_whose_shape_is_a_symbol_stays_a_step() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Mul(), s.input(N, H), s.add(Expand((N, H)), s.constant(1))))

    assert operations(check_same_answers(draw, [FoldConstants])[0]) == {"expand": 1, "mul": 1}


def test_shape_arithmetic_leaves_the_program() -> None:
    def draw(s: Sketch):
        shape = s.add(Shape(), s.input(N, 3, H))
        rows = s.add(Gather(0), shape, s.builder.constant(np.array([0, 2]), "picks"))
        doubled = s.add(Mul(), rows, s.builder.constant(np.array([2]), "two"))
        return s.outputs(s.add(Concat(0), doubled, shape))

    graph, _ = check_same_answers(draw, [FoldConstants])
    assert operations(graph) == {}
    assert [str(extent) for extent in graph.outputs[0].content] == ["2*N", "2*H", "N", "3", "H"]


def test_extents_that_are_numbers_become_constants_of_their_type() -> None:
    s = Sketch()
    shape = s.add(Shape(1), s.input(N, 3, 8))
    real = s.add(Cast(DType.F32), s.add(Div(), shape, s.builder.constant(np.array([2]), "two")))
    graph = s.outputs(s.add(Mul(), s.input(N, 2, name="z"), real))
    FoldConstants().apply(graph, PassLog("fold"))
    assert operations(graph) == {"mul": 1}
    np.testing.assert_array_equal(graph.nodes[0].operand(1).data, np.array([1, 4], np.float32))
    assert graph.nodes[0].operand(1).data.dtype == np.float32


def test_extents_that_meet_data_are_kept_for_it() -> None:
    def draw(s: Sketch):
        count = s.add(Cast(DType.F32), s.add(Shape(1, 2), s.input(N, W)))
        return s.outputs(s.add(Div(), s.graph.inputs[0], count))

    graph, _ = check_same_answers(draw, [FoldConstants, MaterialiseExtents])
    assert operations(graph) == {"extents": 1, "cast": 1, "div": 1}


def test_a_fill_of_known_shape_is_a_constant() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Add(), s.input(2, 3), s.add(ConstantOfShape((2, 3), 1.5))))

    assert operations(check_same_answers(draw, [FoldConstants])[0]) == {"add": 1}
