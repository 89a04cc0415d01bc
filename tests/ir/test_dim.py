"""Extents: expressions evaluate like plain integers, whatever form they were brought to, and stay in their bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuvil_edge.artifact import expression
from cuvil_edge.ir.dim import (
    UNBOUNDED,
    Dim,
    Extent,
    Symbol,
    bounds,
    ceildiv,
    evaluate,
    floordiv,
    maximum,
    minimum,
    product,
    render,
    substitute,
    symbols_of,
)

N, M = Symbol("N"), Symbol("M", 1, 50)
H, W = Symbol("H", 32, 1024, 32), Symbol("W", 8, 64, 8)
n, m, h, w = map(Dim.of, (N, M, H, W))
BINARY: dict[str, Callable[[Extent, Extent], Extent]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": floordiv,
    "max": maximum,
    "min": minimum,
}


@dataclass(frozen=True)
class Tree:
    """An expression as it is written, before any canonical form."""

    kind: str
    left: Tree | Extent
    right: Tree | Extent


def _build(tree: Tree | Extent) -> Extent:
    return BINARY[tree.kind](_build(tree.left), _build(tree.right)) if isinstance(tree, Tree) else tree


def _value(tree: Tree | Extent, symbols: Mapping[str, int]) -> int:
    if not isinstance(tree, Tree):
        return evaluate(tree, symbols)
    result = BINARY[tree.kind](_value(tree.left, symbols), _value(tree.right, symbols))
    assert isinstance(result, int)
    return result


LEAVES = st.one_of(st.sampled_from([n, m, h, w]), st.integers(-6, 40))
TREES = st.recursive(LEAVES, lambda part: st.builds(Tree, st.sampled_from(list(BINARY)), part, part), max_leaves=9)
VALUES = st.fixed_dictionaries(
    {
        "N": st.integers(1, 200),
        "M": st.integers(1, 50),
        "H": st.integers(1, 32).map(lambda k: 32 * k),
        "W": st.integers(1, 8).map(lambda k: 8 * k),
    }
)


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(TREES, VALUES)
def test_canonical_forms_keep_the_value_and_the_bounds(tree: Tree | Extent, symbols: dict[str, int]) -> None:
    try:
        expected = _value(tree, symbols)
        extent = _build(tree)
        got = evaluate(extent, symbols)
    except ZeroDivisionError:
        return
    low, high = bounds(extent)
    assert got == expected
    assert low <= got <= high


@settings(max_examples=500, deadline=None, derandomize=True)
@given(TREES, VALUES)
def test_rendered_text_computes_the_same(tree: Tree | Extent, symbols: dict[str, int]) -> None:
    try:
        extent = _build(tree)
        expected = evaluate(extent, symbols)
    except ZeroDivisionError:
        return
    signs = {"add": "+", "mul": "*", "floordiv": "//"}
    text = render(extent, str, lambda kind, a, b: f"({a} {signs[kind]} {b})" if kind in signs else f"{kind}({a}, {b})")
    assert eval(text, {"max": max, "min": min, **symbols}) == expected
    assert eval(str(extent), {"max": max, "min": min, **symbols}) == expected


@settings(max_examples=300, deadline=None, derandomize=True)
@given(TREES, VALUES)
def test_substitution_by_numbers_is_evaluation(tree: Tree | Extent, symbols: dict[str, int]) -> None:
    try:
        extent = _build(tree)
        replaced = substitute(extent, {symbol: symbols[symbol.name] for symbol in (N, M, H, W)})
    except ZeroDivisionError:
        return
    assert replaced == evaluate(extent, symbols)
    assert symbols_of(extent) <= {N, M, H, W}


def test_static_results_are_plain_ints() -> None:
    for extent in (n - n, n * 0, floordiv(n, n), (n + 3) - n, maximum(n, 0) - n, n // 1 - n):
        assert isinstance(extent, int)


def test_equal_polynomials_are_equal_and_hash_alike() -> None:
    left, right = (n + 1) * (m + 1), m * n + n + m + 1
    assert left == right
    assert hash(left) == hash(right)
    assert n + 1 != n
    assert n != "N"


def test_exact_divisions_leave_no_division() -> None:
    assert floordiv(6 * n * m + 4 * n, 2) == 3 * n * m + 2 * n
    assert floordiv(12 * n * m, 4 * n) == 3 * m
    assert floordiv(n * m, m) == n


def test_nested_rounded_halves_become_one_division() -> None:
    extent: Extent = n
    for _ in range(5):
        extent = ceildiv(extent, 2)
    assert str(extent) == "((31+N)//32)"


def test_multiples_divide_exactly_and_come_back_whole() -> None:
    assert ceildiv(h, 16) == 2 * ceildiv(h, 32)
    assert 32 * floordiv(h, 32) == h
    assert floordiv(h * w, 256) == floordiv(h, 32) * floordiv(w, 8)
    assert floordiv(h, 2) * w == h * floordiv(w, 2)


def test_ranges_decide_maxima_and_minima() -> None:
    assert maximum(n, 1) == n
    assert minimum(m, 50) == m
    assert minimum(m, 60) == m
    assert maximum(h, m - 20) == h
    assert isinstance(minimum(n, 512), Dim)
    assert str(minimum(n, 512)) == "min(N, 512)"


def test_bounds_saturate() -> None:
    assert bounds(n)[1] == UNBOUNDED
    assert bounds(n * n * n)[1] == UNBOUNDED
    assert bounds(5 - n * n)[0] <= -UNBOUNDED + 5
    assert bounds(floordiv(h, 64)) == (0, 16)


def test_names_that_are_no_identifiers_are_quoted() -> None:
    assert str(Dim.of(Symbol("a.b")) + 1) == "1+`a.b`"


@pytest.mark.parametrize("name", ["höhe", "a`b", "max", "x.0", " ", "1x"])
def test_any_name_is_read_back_by_the_manifests_expressions(name: str) -> None:
    extent = floordiv(Dim.of(Symbol(name)) * 3 + 1, 2)
    assert expression.evaluate(str(extent), {name: 9}) == evaluate(extent, {name: 9})


def test_modulo_and_reflected_operators() -> None:
    assert evaluate(n % 7, {"N": 23}) == 2
    assert 7 - n == -(n - 7)
    assert evaluate(100 // n, {"N": 30}) == 3
    assert evaluate(3 * n + 1, {"N": 2}) == 7


def test_products_of_shapes() -> None:
    assert product(()) == 1
    assert product((2, n, 3)) == 6 * n


def test_a_missing_symbol_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        evaluate(n, {"M": 3})
