"""Checks: decided at once where possible, kept otherwise; broadcasting of symbolic shapes."""

from __future__ import annotations

import pytest

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.check import Check, Checks, broadcast_shapes
from cuvil_edge.ir.dim import Dim, Extent, Symbol, minimum

N, M = Dim.of(Symbol("N")), Dim.of(Symbol("M", 2, 8))


def test_what_surely_holds_is_not_kept() -> None:
    checks = Checks()
    checks.equal(N, N, "m")
    checks.at_least(M, 2, "m")
    assert not checks.pending


def test_what_surely_fails_is_an_error() -> None:
    with pytest.raises(ShapeError, match="differ"):
        Checks().equal(M, 9, "differ")
    with pytest.raises(ShapeError, match=r"(?s)small.*at least 9"):
        Checks().at_least(M, 9, "small")


def test_what_depends_on_symbols_is_kept_once() -> None:
    checks = Checks()
    for _ in range(2):
        checks.equal(N, 4, "first")
        checks.at_least(M, 3, "second")
    assert list(checks.pending) == [Check(N, "==", 4, "first"), Check(M, ">=", 3, "second")]
    assert str(next(iter(checks.pending))) == "N == 4: first"


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([(3, 1), (1, 4)], (3, 4)),
        ([(5,), (2, 3, 1)], (2, 3, 5)),
        ([(), (N,)], (N,)),
        ([(N, 1), (1, M)], (N, M)),
        ([(0,), (1,)], (0,)),
        ([], ()),
    ],
    ids=str,
)
def test_shapes_broadcast_like_numpy(shapes: list[tuple[Extent, ...]], expected: tuple[Extent, ...]) -> None:
    checks = Checks()
    assert broadcast_shapes(shapes, checks, "m") == expected
    assert not checks.pending


def test_a_symbol_meets_its_counterpart_under_a_check() -> None:
    checks = Checks()
    assert broadcast_shapes([(N,), (4,)], checks, "m") == (4,)
    assert broadcast_shapes([(minimum(N, 512),), (N,)], checks, "m") == (N,)
    assert len(checks.pending) == 2


def test_shapes_that_do_not_broadcast_are_an_error() -> None:
    with pytest.raises(ShapeError, match="message"):
        broadcast_shapes([(3,), (4,)], Checks(), "message")
