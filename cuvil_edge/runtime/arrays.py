"""Arrays of a run: checked against the model's tensors, copied only where the runtime could not read them in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cuvil_edge.artifact.manifest import TensorInfo
from cuvil_edge.errors import InputError
from cuvil_edge.fields import nearest_hint

Array = npt.NDArray[Any]

_NUMPY_NAMES = {
    "f32": "float32",
    "f16": "float16",
    "f64": "float64",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "bool": "bool",
}


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """The numpy dtype of one of ours. ``bf16`` is ``ml_dtypes.bfloat16`` where that is installed, else ``uint16``."""
    if dtype != "bf16":
        return np.dtype(_NUMPY_NAMES[dtype])
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return np.dtype(np.uint16)
    result: np.dtype[Any] = np.dtype(bfloat16)
    return result


def by_position(
    given: tuple[object, ...], tensors: Sequence[TensorInfo], kind: str = "input"
) -> tuple[list[object], bool]:
    """The values of a call in the model's order, from one mapping by name or from positional values.

    Returns:
        the values, and whether they were given by name.

    Raises:
        InputError: a missing, an extra or an unknown one; names what the model has.
    """
    names = [tensor.name for tensor in tensors]
    if len(given) == 1 and isinstance(given[0], Mapping):
        values = given[0]
        for name in values:
            if name not in names:
                hint = nearest_hint(str(name), names)
                raise InputError(f"unknown {kind}", thing=f"{kind} {name}", expected=", ".join(names), hint=hint)
        missing = [name for name in names if name not in values]
        if missing:
            raise InputError(f"missing {kind}", thing=f"{kind} {missing[0]}", found=", ".join(values) or f"no {kind}s")
        return [values[name] for name in names], True
    if len(given) != len(names):
        raise InputError(
            f"wrong number of {kind}s",
            expected=f"{len(names)}: {', '.join(names)}",
            found=str(len(given)),
            hint=f"give them in this order, or as one dict by name: {{{names[0]!r}: array}}" if names else None,
        )
    return list(given), False


def checked_input(value: object, tensor: TensorInfo, dtype: np.dtype[Any]) -> Array:
    """``value`` as a C-contiguous, aligned array of ``dtype``; the same memory where it is that already.

    Raises:
        InputError: no array, another dtype (nothing is converted silently), or another rank.
    """
    try:
        array = np.asarray(value)
    except Exception as error:  # whatever __array__ of the caller's object raises
        raise InputError(
            "not an array", thing=f"input {tensor.name}", found=f"{type(value).__name__}: {error}"
        ) from None
    if array.dtype != dtype:
        raise InputError(
            "wrong dtype",
            thing=f"input {tensor.name}",
            expected=f"{tensor.dtype} (numpy {dtype.name})",
            found=f"numpy {array.dtype}",
            hint=f"convert it: array.astype({dtype.name!r})",
        )
    if array.ndim != len(tensor.shape):
        raise InputError(
            "wrong rank",
            thing=f"input {tensor.name}",
            expected=f"shape {show_shape(tensor.shape)}",
            found=f"shape {show_shape(array.shape)}",
            hint="add the missing axes with array[np.newaxis]" if array.ndim < len(tensor.shape) else None,
        )
    if not (array.flags.c_contiguous and array.flags.aligned):
        array = array.copy(order="C")
    return array


def checked_output(value: object, tensor: TensorInfo, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """An array that the caller gave for an output; raises InputError unless the result can be written right into it."""
    thing = f"output {tensor.name}"
    if not isinstance(value, np.ndarray):
        raise InputError("not a numpy array", thing=thing, found=type(value).__name__)
    if value.dtype != dtype or value.shape != shape:
        raise InputError(
            "the array does not fit",
            thing=thing,
            expected=f"numpy {dtype.name}, shape {show_shape(shape)}",
            found=f"numpy {value.dtype}, shape {show_shape(value.shape)}",
        )
    if not (value.flags.c_contiguous and value.flags.aligned and value.flags.writeable):
        raise InputError("the array cannot be written in place", thing=thing, expected="C-contiguous and writeable")
    return value


def as_buffer(array: Array) -> Array:
    """The array as one whose dtype the buffer protocol knows (``bfloat16`` of ml_dtypes is kind "V" and is not)."""
    return array.view(np.uint16) if array.dtype.kind == "V" else array


def show_shape(shape: Sequence[int | str]) -> str:
    """``[N, 3, 224, 224]``."""
    return "[" + ", ".join(str(extent) for extent in shape) + "]"
