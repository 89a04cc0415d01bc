"""The inputs of a run: from files, from the reference case of the artifact, or random."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuvil_edge.artifact.expression import parse, quote_symbol
from cuvil_edge.artifact.manifest import Manifest, ReferenceCase, TensorInfo
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.cli._arguments import parse_shapes
from cuvil_edge.cli._array_files import Array, read_inputs
from cuvil_edge.cli._shapes import shape_text
from cuvil_edge.errors import InputError, ShapeError
from cuvil_edge.fields import nearest_hint
from cuvil_edge.runtime.arrays import checked_input, numpy_dtype


@dataclass(frozen=True)
class Inputs:
    """Arrays in the order of the model's inputs, the symbols' values, and where they come from."""

    arrays: tuple[Array, ...]
    symbols: dict[str, int]
    source: str
    """``files``, ``reference`` (the case that the artifact holds) or ``random``."""


def gather_inputs(args: argparse.Namespace, artifact: ArtifactReader, *, make_up: bool) -> Inputs:
    """The inputs that ``--input``, ``--shape`` and ``--seed`` describe.

    Args:
        make_up: fill in inputs that are not given: with the reference case's when none is given, else with random ones.

    Raises:
        UsageError, InputError: wrong texts, files or arrays; an input that is not given.
        ShapeError: shapes that contradict each other.
    """
    manifest = artifact.manifest
    names = tuple(tensor.name for tensor in manifest.inputs)
    given = read_inputs(args.input, names)
    shapes = parse_shapes(args.shape)
    for name in shapes:
        if name not in names:
            hint = nearest_hint(name, names)
            raise InputError(
                "the model has no such input", thing=f"--shape {name}", expected=", ".join(names), hint=hint
            )
        if name in given:
            raise InputError("there is a file for this input already", thing=f"--shape {name}")
    arrays = {
        tensor.name: checked_input(given[tensor.name], tensor, numpy_dtype(tensor.dtype))
        for tensor in manifest.inputs
        if tensor.name in given
    }
    case = manifest.reference[0] if manifest.reference else None
    if not arrays and not shapes and make_up and case is not None:
        return Inputs(
            reference_arrays(artifact, case.inputs, case.input_shapes, manifest.inputs), dict(case.symbols), "reference"
        )
    missing = [tensor for tensor in manifest.inputs if tensor.name not in arrays and tensor.name not in shapes]
    if missing and not make_up:
        raise _missing(missing)
    symbols = bind_symbols(manifest, {name: array.shape for name, array in arrays.items()} | shapes)
    random = np.random.default_rng(args.seed)
    filled = [
        arrays[tensor.name] if tensor.name in arrays else _random(random, artifact, case, index, symbols)
        for index, tensor in enumerate(manifest.inputs)
    ]
    return Inputs(tuple(filled), symbols, "files" if len(arrays) == len(filled) else "random")


def _missing(missing: Sequence[TensorInfo]) -> InputError:
    first = missing[0]
    return InputError(
        "an input is missing" if len(missing) == 1 else f"{len(missing)} inputs are missing",
        details=tuple(
            f"{t.name}: {t.dtype} (numpy {numpy_dtype(t.dtype).name}), {shape_text(t.shape)}" for t in missing
        ),
        expected=f"--input {first.name}=FILE.npy",
        hint="--random makes up all inputs that are not given",
    )


def reference_arrays(
    artifact: ArtifactReader,
    members: Sequence[str],
    shapes: Sequence[tuple[int, ...]],
    tensors: Sequence[TensorInfo],
) -> tuple[Array, ...]:
    """Tensors of a reference case: raw little-endian members as arrays (read-only, not copied)."""
    artifact.verify(members)
    return tuple(
        np.frombuffer(artifact.member(member), numpy_dtype(tensor.dtype)).reshape(shape)
        for member, shape, tensor in zip(members, shapes, tensors, strict=True)
    )


def bind_symbols(manifest: Manifest, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """The symbols' values that follow from the shapes of some inputs; the others as in the reference case.

    Raises:
        InputError: a shape of another rank, or another extent where the model has a number.
        ShapeError: two inputs want different values of one symbol, or a value outside the symbol's range.
    """
    symbols: dict[str, int] = {}
    for tensor in manifest.inputs:
        if tensor.name in shapes:
            _bind_tensor(tensor, shapes[tensor.name], manifest, symbols)
    defaults = dict(manifest.reference[0].symbols) if manifest.reference else {}
    for symbol in manifest.symbols:
        smallest = -(-max(symbol.min, 1) // symbol.multiple_of) * symbol.multiple_of
        value = symbols.setdefault(symbol.name, defaults.get(symbol.name, smallest))
        too_large = symbol.max is not None and value > symbol.max
        if value < symbol.min or too_large or value % symbol.multiple_of:
            span = f"at least {symbol.min}" if symbol.max is None else f"{symbol.min} to {symbol.max}"
            multiple = f", a multiple of {symbol.multiple_of}" if symbol.multiple_of > 1 else ""
            raise ShapeError(
                "an extent is outside of its range",
                thing=symbol.name,
                expected=span + multiple,
                found=str(value),
                hint="ranges are set when the model is compiled, with --dim",
            )
    for tensor in manifest.inputs:
        if tensor.name in shapes and tensor.extents(symbols) != shapes[tensor.name]:
            raise _wrong_shape(tensor, shapes[tensor.name])
    return symbols


def _bind_tensor(tensor: TensorInfo, shape: tuple[int, ...], manifest: Manifest, symbols: dict[str, int]) -> None:
    if len(shape) != len(tensor.shape):
        raise _wrong_shape(tensor, shape)
    for extent, value in zip(tensor.shape, shape, strict=True):
        if isinstance(extent, int):
            if extent != value:
                raise _wrong_shape(tensor, shape)
            continue
        name = next((symbol for symbol in parse(extent).symbols if extent == quote_symbol(symbol)), None)
        if name is not None and symbols.setdefault(name, value) != value:
            raise ShapeError(
                "two inputs disagree about an extent",
                thing=f"input {tensor.name}",
                expected=f"{name}={symbols[name]}, as in the inputs before",
                found=f"{name}={value}",
            )


def _wrong_shape(tensor: TensorInfo, shape: tuple[int, ...]) -> InputError:
    return InputError(
        "wrong shape", thing=f"input {tensor.name}", expected=shape_text(tensor.shape), found=shape_text(shape)
    )


def _random(
    random: np.random.Generator,
    artifact: ArtifactReader,
    case: ReferenceCase | None,
    index: int,
    symbols: Mapping[str, int],
) -> Array:
    """Standard normal floats; integers in the span of the reference case's, because integers are often indices."""
    tensor = artifact.manifest.inputs[index]
    shape, dtype = tensor.extents(symbols), numpy_dtype(tensor.dtype)
    if tensor.dtype in ("f32", "f16", "f64", "bf16"):
        values: Any = random.standard_normal(shape, dtype=np.float32)
        return np.asarray(values).astype(dtype)
    low, high = 0, 1
    if case is not None and tensor.dtype != "bool":
        known = reference_arrays(
            artifact, case.inputs[index : index + 1], case.input_shapes[index : index + 1], (tensor,)
        )[0]
        low, high = (int(known.min()), int(known.max())) if known.size else (0, 0)
    return np.asarray(random.integers(low, high, shape, endpoint=True)).astype(dtype)
