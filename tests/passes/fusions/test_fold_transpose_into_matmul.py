"""Risks: the wrong operand is read the other way round, or a permutation of other axes is taken for an exchange."""

from __future__ import annotations

import pytest

from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.ops.transpose import Transpose
from cuvil_edge.passes.fusions.fold_transpose_into_matmul import FoldTransposeIntoMatmul
from tests.passes.graphs import H, N, Sketch, check_same_answers, layers, operations

SWAP = Transpose((0, 2, 1))


@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("turned", [(True, False), (False, True), (True, True)])
def test_an_exchange_of_the_last_two_axes_becomes_a_flag(flags: tuple[bool, bool], turned: tuple[bool, bool]) -> None:
    def draw(s: Sketch):
        operands = []
        for index, (rows, columns) in enumerate(((6, 5), (5, 7))):
            swapped = flags[index] != turned[index]
            x = s.input(2, *((columns, rows) if swapped else (rows, columns)), name=f"x{index}")
            operands.append(s.add(SWAP, x) if turned[index] else x)
        return s.outputs(s.add(Matmul(*flags), *operands))

    graph, _ = check_same_answers(draw, [FoldTransposeIntoMatmul])
    assert operations(graph) == {"matmul": 1}
    assert layers(graph) == {f"layer{index}" for index in range(1 + sum(turned))}


def test_another_permutation_stays() -> None:
    def draw(s: Sketch):
        a = s.add(Transpose((1, 0, 2)), s.input(N, 4, 5))
        return s.outputs(s.add(Matmul(), a, s.add(Transpose((2, 0, 1)), s.input(5, 8, 4, name="z"))))

    assert operations(check_same_answers(draw, [FoldTransposeIntoMatmul])[0]) == {"matmul": 1, "transpose": 2}


def test_a_transpose_that_others_read_stays_for_them() -> None:
    def draw(s: Sketch):
        turned = s.add(SWAP, s.input(2, H, N))
        return s.outputs(s.add(Matmul(), turned, s.input(2, H, 3, name="z")), turned)

    assert operations(check_same_answers(draw, [FoldTransposeIntoMatmul])[0]) == {"matmul": 1, "transpose": 1}


def test_the_same_transpose_on_both_sides() -> None:
    def draw(s: Sketch):
        turned = s.add(SWAP, s.input(2, 4, 4))
        return s.outputs(s.add(Matmul(), turned, turned))

    assert operations(check_same_answers(draw, [FoldTransposeIntoMatmul])[0]) == {"matmul": 1}


def test_bias_and_epilogue_operands_stay_where_they_are() -> None:
    def draw(s: Sketch):
        turned = s.add(Transpose((1, 0)), s.input(7, 5))
        return s.outputs(s.add(Matmul(), s.input(N, 5, name="a"), turned, s.constant(7)))

    graph, _ = check_same_answers(draw, [FoldTransposeIntoMatmul])
    assert operations(graph) == {"matmul": 1}
    assert graph.nodes[0].operand(2).type.shape == (7,)
