"""Kinds of the runtime are kinds of the Python errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cuvil_edge import _runtime, errors
from cuvil_edge.runtime.failures import error_of, translated

STATUS = Path(__file__).parents[2] / "csrc" / "base" / "status.cc"


def test_every_kind_of_the_runtime_is_known() -> None:
    """Remote code finds the error class by kind, so a kind that no class has would be lost."""
    table = STATUS.read_text().split("kKindNames[]")[1].split("}")[0]
    kinds = set(re.findall(r'"(\w+)"', table)) - {"none"}
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    known = {value("x").kind for value in classes if issubclass(value, errors.CuvilError)}
    assert len(kinds) == 9
    assert kinds <= known
    for kind in kinds:
        assert isinstance(error_of(_runtime.Failure(kind, "w", "", "", "", "")), errors.CuvilError)


def test_parts_are_kept_and_empty_ones_left_out() -> None:
    with pytest.raises(errors.InputError) as caught, translated():
        raise _runtime.Failure("input", "what", "thing", "expected", "", "hint")
    error = caught.value
    assert (error.what, error.thing, error.expected, error.found, error.hint) == (
        "what",
        "thing",
        "expected",
        None,
        "hint",
    )
    assert caught.value.__cause__ is None
