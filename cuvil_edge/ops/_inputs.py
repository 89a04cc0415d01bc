"""Checks of operands that many operations share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cuvil_edge.errors import ShapeError, UnsupportedError
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Inputs


def required(inputs: Inputs, index: int) -> Value:
    """Input ``index``; ShapeError if it is missing."""
    value = inputs[index] if index < len(inputs) else None
    if value is None:
        raise ShapeError(f"input {index} is missing")
    return value


def optional(inputs: Inputs, index: int) -> Value | None:
    """Input ``index``, or None if it is left out."""
    return inputs[index] if index < len(inputs) else None


def require_rank(value: Value, low: int, high: int | None = None) -> int:
    """The rank of ``value``; ShapeError unless it is in the closed range ``[low, high]`` (None: no upper limit)."""
    rank = value.type.rank
    if rank < low or (high is not None and rank > high):
        expected = f"at least {low}" if high is None else str(low) if low == high else f"{low} to {high}"
        raise ShapeError(f"%{value.name} has a wrong number of axes", expected=expected, found=str(value.type))
    return rank


def require_float(*values: Value | None) -> None:
    """UnsupportedError unless every operand is a float; ShapeError unless all are of one type."""
    for value in values:
        if value is not None and not value.type.dtype.is_float:
            raise UnsupportedError(f"%{value.name} has a wrong element type", expected="f32", found=str(value.type))
    require_same_dtype(*values)


def require_same_dtype(*values: Value | None) -> None:
    """ShapeError unless all operands have one element type."""
    dtypes = [value.type.dtype for value in values if value is not None]
    if len(set(dtypes)) > 1:
        raise ShapeError("operands differ in element type", found=", ".join(dtype.value for dtype in dtypes))


def require_shape(value: Value, shape: Sequence[Extent], checks: Checks, what: str) -> None:
    """Require ``value`` to have ``shape``; ``what`` names the operand in the message."""
    require_rank(value, len(shape), len(shape))
    for found, wanted in zip(value.type.shape, shape, strict=True):
        checks.equal(found, wanted, f"{what} %{value.name} has shape {_text(value.type.shape)}, not {_text(shape)}")


def require_broadcast_to(value: Value, shape: Sequence[Extent], checks: Checks, what: str) -> None:
    """Require that ``value`` broadcasts to ``shape`` (its axes are the last ones, each equal or 1)."""
    message = f"{what} %{value.name} of shape {_text(value.type.shape)} does not broadcast to {_text(shape)}"
    if value.type.rank > len(shape):
        raise ShapeError(message)
    for found, wanted in zip(value.type.shape[::-1], reversed(shape), strict=False):
        if found != 1:
            checks.equal(found, wanted, message)


def check_axis(axis: int, rank: int) -> None:
    """ShapeError unless ``axis`` is in ``[0, rank)``."""
    if not 0 <= axis < rank:
        raise ShapeError("axis is out of range", expected=f"0 to {rank - 1}", found=str(axis))


def ints(extents: Iterable[Extent]) -> tuple[int, ...]:
    """Extents that are plain numbers, as they are when a reference runs; TypeError for one that depends on symbols."""
    numbers = tuple(extents)
    for number in numbers:
        if not isinstance(number, int):
            raise TypeError(f"{number} depends on symbols")
    return numbers  # type: ignore[return-value]


def accumulator(array: np.ndarray) -> np.ndarray:
    """Floats as float64, so that a reference does not depend on the order of additions; others unchanged."""
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def sample_array(shape: tuple[int, ...], seed: int = 0, dtype: DType = DType.F32) -> np.ndarray:
    """Reproducible elements for samples: normal floats, small integers, bools."""
    random = np.random.default_rng([seed, *shape])
    if dtype.is_float:
        return random.standard_normal(shape).astype(dtype.numpy)
    if dtype is DType.BOOL:
        return random.integers(0, 2, shape).astype(bool)
    return random.integers(0 if dtype.value[0] == "u" else -50, 50, shape).astype(dtype.numpy)


def _text(shape: Sequence[Extent]) -> str:
    return f"[{', '.join(str(extent) for extent in shape)}]"
