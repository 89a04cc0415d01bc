"""Risks: a kernel reads extents that nobody wrote; what only inference reads is written all the same."""

from __future__ import annotations

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.cast import Cast
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.shape import Shape
from cuvil_edge.passes.fold_constants import FoldConstants
from cuvil_edge.passes.materialise_extents import MaterialiseExtents
from tests.passes.graphs import H, N, Sketch, check_same_answers, operations

PASSES = [FoldConstants, MaterialiseExtents]


def test_extents_are_written_once_for_all_readers() -> None:
    def draw(s: Sketch):
        x = s.input(N, 2, dtype=DType.I64)
        shape = s.add(Shape(), x)
        return s.outputs(s.add(Add(), x, shape), s.add(Mul(), x, shape), shape)

    graph, [_, log] = check_same_answers(draw, PASSES)
    assert operations(graph) == {"extents": 1, "add": 1, "mul": 1}
    assert log.changes == {"wrote extents to memory": 1}
    assert graph.nodes[0].op.name == "extents", "it must be written before it is read"
    assert graph.nodes[0].layers


def test_an_output_may_consist_of_extents_alone() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Mul(), s.add(Shape(), s.input(N, H, 7)), s.builder.constant(np.array([3]), "three")))

    graph, _ = check_same_answers(draw, PASSES)
    assert operations(graph) == {"extents": 1}
    assert graph.outputs[0].producer is graph.nodes[0]


def test_constants_and_data_are_left_alone() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Cast(DType.I32), s.add(Add(), s.input(N), s.constant(1))))

    graph, [_, log] = check_same_answers(draw, PASSES)
    assert operations(graph) == {"add": 1, "cast": 1}
    assert not log.changes
