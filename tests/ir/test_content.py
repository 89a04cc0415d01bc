"""Arithmetic on contents: exact where ranges decide, TypeError where the answer depends on a symbol."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.ir.content import ON_EXTENTS, divide, is_equal, is_less, modulo, to_bool
from cuvil_edge.ir.dim import Dim, Symbol, evaluate
from cuvil_edge.ir.scalar import ARITHMETIC, PREDICATES

N = Dim.of(Symbol("N", 1, 10))


def test_comparisons_are_decided_by_ranges() -> None:
    assert is_less(N, 11)
    assert not is_less(N, 1)
    assert is_equal(N, N)
    assert not is_equal(N, 0)
    assert is_less(N - 20, N)


@pytest.mark.parametrize("compare", [is_less, is_equal])
def test_undecided_comparisons_are_type_errors(compare: object) -> None:
    with pytest.raises(TypeError, match="depends on the symbols"):
        compare(N, 5)  # type: ignore[operator]


@pytest.mark.parametrize(("a", "b"), [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (0, 5), (-1, 4)])
def test_division_truncates_and_modulo_has_the_divisors_sign(a: int, b: int) -> None:
    assert divide(a, b) == int(a / b)
    assert modulo(a, b) == np.mod(a, b)


@pytest.mark.parametrize("value", [1, 4, 9])
def test_symbolic_division_agrees_with_numbers(value: int) -> None:
    for a, b in ((N, 3), (-N, 3), (20, N), (-20, N), (N, -4), (3 * N, N)):
        numbers = [evaluate(each, {"N": value}) for each in (a, b)]
        assert evaluate(divide(a, b), {"N": value}) == int(numbers[0] / numbers[1])
        assert evaluate(modulo(a, b), {"N": value}) == np.mod(*numbers)


def test_division_by_zero_is_an_arithmetic_error() -> None:
    for function in (divide, modulo):
        with pytest.raises(ZeroDivisionError):
            function(N, 0)


def test_the_vocabulary_agrees_with_numpy_on_plain_numbers() -> None:
    a, b = np.array([-7, 0, 3, 8]), np.array([2, 5, -3, 8])
    positive = np.array([0, 1, 2, 3])
    for name, function in ON_EXTENTS.items():
        given = {"neg": (a,), "abs": (a,), "not": (a,), "pow": (a, positive), "select": (a > 0, a, b)}.get(name, (a, b))
        expected = {**ARITHMETIC, **PREDICATES}[name](*given)
        got = function(*(array.astype(object) for array in given))
        assert got.tolist() == expected.tolist(), name


def test_truth_of_extents() -> None:
    assert to_bool(np.array([N, 0, 3], object)).tolist() == [True, False, True]
    with pytest.raises(TypeError):
        to_bool(np.array([N - 5], object))


def test_powers_are_small_and_whole() -> None:
    power = ON_EXTENTS["pow"]
    assert power(N, 2) == N * N
    for exponent in (-1, 1000, N):
        with pytest.raises(TypeError):
            power(N, exponent)
