"""Errors: what a user reads and what a program reads."""

from __future__ import annotations

import pickle

import pytest

from cuvil_edge import errors
from cuvil_edge.errors import CuvilError, DiskFullError, UsageError

FAMILY = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, CuvilError)]


def test_message_has_all_parts_in_order() -> None:
    error = CuvilError("failed", thing="x.toml: key", expected="1", found="2", hint="try", details=("line one",))
    assert str(error) == "x.toml: key: failed\n  line one\n  expected: 1\n  found: 2\n  hint: try"


def test_parts_that_are_not_given_leave_no_trace() -> None:
    assert str(CuvilError("failed")) == "failed"
    assert CuvilError("failed").to_json() == {"kind": "cuvil", "what": "failed"}


def test_json_has_the_same_parts() -> None:
    error = DiskFullError("no space", thing="/x", expected="1", found="0", hint="free some", details=("a", "b"))
    assert error.to_json() == {
        "kind": "disk_full",
        "what": "no space",
        "thing": "/x",
        "expected": "1",
        "found": "0",
        "hint": "free some",
        "details": ["a", "b"],
    }


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: str(kind.__name__))
def test_every_error_has_a_kind_of_its_own_and_an_exit_code(kind: type[CuvilError]) -> None:
    assert kind("x").kind == kind("x").kind.lower()
    assert [other("x").kind for other in FAMILY].count(kind("x").kind) == 1
    assert 1 <= kind.exit_code <= 125


def test_wrong_usage_has_the_exit_code_of_shells() -> None:
    assert UsageError("x").exit_code == 2


def test_errors_survive_a_process_boundary() -> None:
    error = DiskFullError("no space", thing="/x", hint="free some")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is DiskFullError
    assert copy.to_json() == error.to_json()
