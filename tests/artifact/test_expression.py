"""Expressions: the same value as Python's own arithmetic, and every mistake is shown with its place."""

from __future__ import annotations

import contextlib
import random

import pytest

from cuvil_edge.artifact.expression import evaluate, parse, quote_symbol
from cuvil_edge.errors import ArtifactError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        (" N * 3 ", 15),
        ("N+2*3", 11),
        ("(N+2)*3", 21),
        ("10-3-2", 5),
        ("100//N//3", 6),
        ("2*7//4", 3),
        ("-7//2", -4),
        ("-(N)+1", -4),
        ("--N", 5),
        ("max(N,9)", 9),
        ("min(N, 9, 2)", 2),
        ("max(1, min(N, 3))*2", 6),
        ("`im h`+`a``b`", 30),
        ("max+min", 3),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_values(text: str, value: int) -> None:
    assert evaluate(text, {"N": 5, "im h": 10, "a`b": 20, "max": 1, "min": 2}) == value


def test_an_int_is_its_own_value() -> None:
    assert evaluate(-3, {}) == -3


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 1),
        ("  ", 1),
        ("N+", 3),
        ("N N", 3),
        ("(N", 3),
        ("N)", 2),
        ("N/2", 2),
        ("N**2", 3),
        ("max(N)", 6),
        ("max(N,)", 7),
        ("min N", 5),
        ("`N", 1),
        ("``", 1),
        ("2N", 2),
        ("N%2", 2),
        ("ü", 1),
        ("9223372036854775808", 1),
        ("1" * 5000, 1),
        ("1.5", 2),
        ("__import__('os')", 12),
    ],
)
def test_bad_syntax_names_the_place(text: str, position: int) -> None:
    with pytest.raises(ArtifactError, match=f"bad expression at character {position}\\n"):
        evaluate(text, {"N": 1})


def test_deep_nesting_and_long_texts_cannot_exhaust_the_stack() -> None:
    assert evaluate("(" * 99 + "1" + ")" * 99, {}) == 1
    assert evaluate("+".join(["1"] * 30_000), {}) == 30_000
    for text in ("(" * 5000 + "1" + ")" * 5000, "-" * 5000 + "1", "max(1," * 5000 + "1" + ")" * 5000, "1+" * 50_000):
        with pytest.raises(ArtifactError, match="expected"):
            parse(text)


@pytest.mark.parametrize("text", ["N*N", "N+N", "-N-N", "N*N//N"])
def test_a_value_that_the_runtime_cannot_hold_is_refused(text: str) -> None:
    with pytest.raises(ArtifactError, match="does not fit 64 bits") as caught:
        evaluate(text, {"N": 2**62 + 1})
    assert caught.value.found == f"N = {2**62 + 1}"


def test_division_by_zero_and_missing_symbols() -> None:
    with pytest.raises(ArtifactError, match="division by zero"):
        evaluate("4//(N-N)", {"N": 3})
    with pytest.raises(ArtifactError, match='symbol "H" has no value'):
        evaluate("N*H", {"N": 1})


def test_symbols_are_listed() -> None:
    assert parse("N*max(`im h`, W)//2").symbols == {"N", "im h", "W"}


@pytest.mark.parametrize("name", ["N", "im h", "a`b", "`", "", "größe", "2x", "max", "a+b"])
def test_quoted_names_are_read_back(name: str) -> None:
    if name:
        assert evaluate(quote_symbol(name), {name: 42}) == 42


def _random_expression(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([str(rng.randrange(50)), "a", "b", "c"])
    left, right = _random_expression(rng, depth - 1), _random_expression(rng, depth - 1)
    form = rng.randrange(5)
    if form == 0:
        return f"({left}{rng.choice(['+', '-', '*', '//'])}{right})"
    if form == 1:
        return f"{rng.choice(['max', 'min'])}({left}, {right})"
    if form == 2:
        return f"-{_random_expression(rng, 0)}"
    return f"{left} {rng.choice(['+', '-', '*', '//'])} {right}"


def test_random_expressions_have_the_value_that_python_gives() -> None:
    rng = random.Random(20)
    compared = 0
    for _ in range(3000):
        text = _random_expression(rng, 4)
        symbols = {name: rng.randrange(-5, 30) for name in "abc"}
        try:
            expected = eval(text, {"__builtins__": {}, "max": max, "min": min}, symbols)
        except ZeroDivisionError:
            with pytest.raises(ArtifactError, match=r"division by zero|64 bits"):
                evaluate(text, symbols)
            continue
        if abs(expected) < 2**40:
            assert evaluate(text, symbols) == expected, (text, symbols)
            compared += 1
    assert compared > 2000


def test_random_texts_either_parse_or_are_refused() -> None:
    rng = random.Random(21)
    for _ in range(5000):
        text = "".join(rng.choice("ab19+-*/(),` max\n\t.é") for _ in range(rng.randrange(14)))
        with contextlib.suppress(ArtifactError):
            evaluate(text, {"a": 2, "b": 3})
