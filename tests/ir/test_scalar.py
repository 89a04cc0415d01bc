"""Scalar expressions: parsing with types, composition, and evaluation that keeps the element type."""

from __future__ import annotations

from math import erf

import numpy as np
import pytest

from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.scalar import (
    ARITHMETIC,
    PREDICATES,
    Arg,
    Call,
    Literal,
    call,
    cast,
    dtypes_in,
    evaluate,
    operation_count,
    parse,
    substitute,
)

A, B = Arg(0, DType.F32), Arg(1, DType.F32)
X = np.array([-1.5, 0, 0.25, 3], np.float32)


def test_text_becomes_a_typed_tree() -> None:
    tree = parse("max(a, 0) * slope + b", [DType.F32, DType.F32], {"slope": 2.5})
    relu = call("max", A, Literal(0, DType.F32))
    assert tree == call("add", call("mul", relu, Literal(2.5, DType.F32)), B)
    assert operation_count(tree) == 3


def test_numbers_take_the_type_of_what_they_meet() -> None:
    tree = parse("select(a > 0, a, -1)", [DType.I64], {})
    assert dtypes_in(tree) == {DType.BOOL, DType.I64}
    assert tree.dtype is DType.I64
    assert evaluate(tree, [np.array([5, -5])]).dtype == np.int64


def test_comparisons_and_logic_are_bool() -> None:
    tree = parse("and_(a < 1, not_(isnan(a)))", [DType.F32], {})
    assert tree.dtype is DType.BOOL
    assert evaluate(tree, [np.array([0, 2, np.nan], np.float32)]).tolist() == [True, False, False]


@pytest.mark.parametrize("text", ["a if a else b", "a[0]", "a @ a", "nothing(a)", "'text'", "a.b"])
def test_what_is_no_scalar_expression_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        parse(text, [DType.F32], {})


def test_casts_are_left_out_where_the_type_is_right() -> None:
    assert cast(A, DType.F32) is A
    assert cast(A, DType.I32) == Call("cast", (A,), DType.I32)
    assert evaluate(parse("cast_i32(a)", [DType.F32], {}), [X]).tolist() == [-1, 0, 0, 3]
    assert evaluate(cast(A, DType.BOOL), [X]).tolist() == [True, False, True, True]


def test_substitution_composes_expressions() -> None:
    outer, inner = call("mul", A, B), call("add", A, Literal(1.0, DType.F32))
    combined = substitute(outer, [inner, A])
    assert np.array_equal(evaluate(combined, [X]), (X + 1) * X)


@pytest.mark.parametrize("dtype", [DType.F32, DType.F16, DType.F64])
def test_results_keep_the_element_type(dtype: DType) -> None:
    x = np.array([0.25, 0.5], dtype.numpy)
    for name in ("exp", "sigmoid", "erf", "sqrt", "tanh"):
        assert evaluate(call(name, Arg(0, dtype)), [x]).dtype == dtype.numpy


def test_erf_and_sigmoid_are_the_functions_of_that_name() -> None:
    np.testing.assert_allclose(evaluate(call("erf", A), [X]), [erf(x) for x in X], rtol=1e-6)
    big = np.array([-1000, 0, 1000], np.float32)
    assert evaluate(call("sigmoid", A), [big]).tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(("a", "b"), [(7, 2), (-7, 2), (7, -2), (-7, -2)])
def test_integer_division_truncates(a: int, b: int) -> None:
    tree = parse("a / b", [DType.I32, DType.I32], {})
    assert evaluate(tree, [np.array(a, np.int32), np.array(b, np.int32)]) == int(a / b)
    assert evaluate(tree, [np.array(a, object), np.array(b, object)]).tolist() == int(a / b)


def test_integers_wrap() -> None:
    tree = parse("a + b", [DType.U8, DType.U8], {})
    assert evaluate(tree, [np.array([250], np.uint8), np.array([10], np.uint8)]).tolist() == [4]


def test_extents_pass_through_arithmetic_and_refuse_real_functions() -> None:
    n = Dim.of(Symbol("N"))
    content = np.array([n, 3], object)
    assert evaluate(parse("max(a * 2, 1)", [DType.I64], {}), [content]).tolist() == [2 * n, 6]
    for text in ("exp(a)", "a < 2", "sigmoid(a)"):
        with pytest.raises(TypeError):
            evaluate(parse(text, [DType.I64], {}), [content])


def test_the_vocabulary_has_one_meaning_a_word() -> None:
    assert not ARITHMETIC.keys() & PREDICATES.keys()
    with pytest.raises(ValueError, match="unknown scalar function"):
        call("frobnicate", A)
