"""Risks: a row meets the wrong axis, a shared product is folded away, a second bias replaces the first."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.ops.add import Add
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.passes.fusions.fold_add_into_matmul import FoldAddIntoMatmul
from tests.passes.graphs import N, Sketch, check_same_answers, layers, operations


@pytest.mark.parametrize("shape", [(7,), (1,), (), (1, 7), (1, 1, 7)])
@pytest.mark.parametrize("first", [True, False])
def test_a_row_becomes_the_bias(shape: tuple[int, ...], first: bool) -> None:
    def draw(s: Sketch):
        product = s.add(Matmul(), s.input(N, 4, 5), s.constant(5, 7))
        operands = (product, s.constant(*shape)) if first else (s.constant(*shape), product)
        return s.outputs(s.add(Add(), *operands))

    graph, _ = check_same_answers(draw, [FoldAddIntoMatmul])
    assert operations(graph) == {"matmul": 1}
    assert graph.nodes[0].operand(2).type.shape == (7,)
    assert layers(graph) == {"layer0", "layer1"}


def test_transposed_operands_keep_their_columns() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Add(), s.add(Matmul(True, True), s.input(N, 5, 4), s.constant(7, 5)), s.constant(7)))

    assert operations(check_same_answers(draw, [FoldAddIntoMatmul])[0]) == {"matmul": 1}


def test_a_column_and_a_full_matrix_stay_additions() -> None:
    def draw(s: Sketch):
        x = s.input(N, 7, 5)
        column = s.add(Add(), s.add(Matmul(), x, s.constant(5, 7)), s.constant(7, 1))
        return s.outputs(s.add(Add(), s.add(Matmul(), x, s.constant(5, 7)), s.constant(7, 7)), column)

    assert operations(check_same_answers(draw, [FoldAddIntoMatmul])[0]) == {"matmul": 2, "add": 2}


@pytest.mark.parametrize("rows", [(5,), (1, 5), (N, 5)])
def test_the_last_axis_of_a_product_with_a_vector_is_not_its_columns(rows: tuple[object, ...]) -> None:
    def draw(s: Sketch):
        product = s.add(Matmul(), s.input(*rows, 3), s.builder.constant(np.ones(3, np.float32), "vector"))
        return s.outputs(s.add(Add(), product, s.constant(5)))

    assert operations(check_same_answers(draw, [FoldAddIntoMatmul])[0]) == {"matmul": 1, "add": 1}


def test_a_vector_times_a_matrix_has_columns() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Add(), s.add(Matmul(), s.input(3), s.constant(3, 5)), s.constant(5)))

    assert operations(check_same_answers(draw, [FoldAddIntoMatmul])[0]) == {"matmul": 1}


def test_only_the_first_of_two_rows_becomes_the_bias() -> None:
    def draw(s: Sketch):
        y = s.add(Add(), s.add(Matmul(), s.input(N, 5), s.constant(5, 7)), s.constant(7))
        return s.outputs(s.add(Add(), y, s.constant(7)))

    assert operations(check_same_answers(draw, [FoldAddIntoMatmul])[0]) == {"matmul": 1, "add": 1}


def test_a_product_that_others_read_stays_and_the_reason_is_told() -> None:
    def draw(s: Sketch):
        y = s.add(Matmul(), s.input(N, 5), s.constant(5, 7))
        return s.outputs(s.add(Add(), y, s.constant(7)), y)

    graph, [log] = check_same_answers(draw, [FoldAddIntoMatmul])
    assert operations(graph) == {"matmul": 1, "add": 1}
    assert "used elsewhere" in log.refusals[0]


def test_a_row_that_makes_the_result_wider_is_not_a_bias() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Add(), s.add(Matmul(), s.input(N, 5), s.constant(5, 1)), s.constant(7)))

    assert operations(check_same_answers(draw, [FoldAddIntoMatmul])[0]) == {"matmul": 1, "add": 1}
