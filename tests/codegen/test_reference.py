"""Risks: a reference case that breaks a constraint of the model, is huge, is not the same twice, or cannot be made."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.codegen.reference import ReferenceData, example_symbols, make_reference
from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Check
from cuvil_edge.ir.dim import Dim, Symbol, floordiv
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.gather import Gather
from cuvil_edge.ops.logical_not import LogicalNot
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.ops.relu import Relu
from tests.passes.graphs import Sketch

A, B = Symbol("a", max=4096), Symbol("b", max=4096)
NONE: frozenset[Symbol] = frozenset()


def test_extents_satisfy_all_constraints() -> None:
    a, b = Dim.of(A), Dim.of(B)
    checks = [
        Check(a - floordiv(a, 32) * 32, "==", 0, "a is a multiple of 32"),
        Check(a, "==", b * 2, "a is twice b"),
        Check(b, ">=", 40, "b is at least 40"),
    ]
    found = example_symbols([A, B], checks, NONE)
    assert found["a"] == 2 * found["b"] >= 80
    assert found["a"] % 32 == 0


@pytest.mark.parametrize(
    ("symbol", "valid"),
    [
        (Symbol("n", min=1000, max=1001), {1000, 1001}),
        (Symbol("n", min=33, max=63, multiple_of=31), {62}),
        (Symbol("n", min=5, max=5), {5}),
        (Symbol("n", min=0, max=3), {1, 2, 3}),
        (Symbol("n", min=700), set(range(700, 1400))),
    ],
)
def test_extents_are_in_the_range_of_their_symbol(symbol: Symbol, valid: set[int]) -> None:
    for batch in (NONE, frozenset({symbol})):
        assert example_symbols([symbol], [], batch)["n"] in valid


def test_constraints_without_an_answer_are_told() -> None:
    odd = Check(Dim.of(A) * 2, "==", 7, "twice a is seven")
    with pytest.raises(ShapeError, match="no extents were found") as caught:
        example_symbols([A], [odd], NONE)
    assert "twice a is seven" in caught.value.details[0]
    assert "--dim" in (caught.value.hint or "")


def test_many_symbols_end_the_search_instead_of_the_day() -> None:
    symbols = [Symbol(f"s{index}", max=4096) for index in range(12)]
    with pytest.raises(ShapeError):
        example_symbols(symbols, [Check(Dim.of(symbols[0]), ">=", 4096, "large")], NONE)


def test_the_batch_is_small_while_images_are_of_use() -> None:
    s = Sketch()
    n, h = Dim.of(Symbol("N")), Dim.of(Symbol("H"))
    graph = s.outputs(s.add(Relu(), s.input(n, 3, h, h)))
    data = make_reference(graph)
    assert data.symbols["N"] <= 2
    assert data.symbols["H"] >= 16


def reference_of_lookup(rows: int) -> ReferenceData:
    s = Sketch()
    indices = s.input(2, 3, name="indices", dtype=DType.I64)
    return make_reference(s.outputs(s.add(Gather(0), s.constant(rows, 4), indices)))


def test_integers_that_are_indices_stay_inside() -> None:
    data = reference_of_lookup(3)
    assert data.inputs[0].max() < 3
    assert data.outputs[0].shape == (2, 3, 4)
    assert reference_of_lookup(1000).inputs[0].max() > 3, "not always the first rows"


def test_a_table_of_one_row_can_be_looked_up_in() -> None:
    assert reference_of_lookup(1).inputs[0].max() == 0


def test_a_model_that_no_input_fits_is_told() -> None:
    s = Sketch()
    indices = s.input(2, 3, name="indices", dtype=DType.I64)
    beyond = s.add(Add(), indices, s.builder.constant(np.array([7]), "seven"))
    graph = s.outputs(s.add(Gather(0), s.constant(7, 4), beyond))
    with pytest.raises(ShapeError, match="no valid input") as caught:
        make_reference(graph)
    assert caught.value.thing == "node layer1"


def test_the_case_is_the_same_every_time_and_of_the_models_types() -> None:
    def made() -> ReferenceData:
        s = Sketch()
        random = np.random.default_rng(9)
        weights = s.builder.constant(random.standard_normal((5, 2)).astype(np.float32), "weights")
        x = s.input(Dim.of(A), 5)
        mask = s.input(4, name="mask", dtype=DType.BOOL)
        count = s.input(4, name="count", dtype=DType.I32)
        return make_reference(
            s.outputs(s.add(Matmul(), x, weights), s.add(LogicalNot(), mask), s.add(Add(), count, count))
        )

    first, second = made(), made()
    assert first.symbols == second.symbols
    for one, other in zip([*first.inputs, *first.outputs], [*second.inputs, *second.outputs], strict=True):
        np.testing.assert_array_equal(one, other)
    assert [array.dtype for array in first.inputs] == [np.float32, bool, np.int32]
    assert [array.dtype for array in first.outputs] == [np.float32, bool, np.int32]
    assert first.inputs[0].shape[0] == first.symbols["a"]
