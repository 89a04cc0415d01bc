"""Failures of the C++ runtime as the errors that users see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cuvil_edge import _runtime
from cuvil_edge.errors import (
    ArtifactError,
    CuvilError,
    DiskFullError,
    IncompatibleError,
    InputError,
    RuntimeFailure,
    ShapeError,
    UsageError,
)

_CLASSES: dict[str, type[CuvilError]] = {
    "usage": UsageError,
    "input": InputError,
    "shape": ShapeError,
    "artifact": ArtifactError,
    "wrong_architecture": IncompatibleError,
    "missing_feature": IncompatibleError,
    "runtime_failure": RuntimeFailure,
    "out_of_memory": RuntimeFailure,
    "disk_full": DiskFullError,
}


@contextmanager
def translated() -> Iterator[None]:
    """Raises the CuvilError that stands for a failure of the runtime inside the block."""
    try:
        yield
    except _runtime.Failure as failure:
        raise error_of(failure) from None


def error_of(failure: _runtime.Failure) -> CuvilError:
    """The error for a failure: its kind decides the class, its parts are kept."""
    kind, what, thing, expected, found, hint = (str(part) for part in failure.args)
    error_class = _CLASSES.get(kind, RuntimeFailure)
    return error_class(what, thing=thing or None, expected=expected or None, found=found or None, hint=hint or None)
