"""The reference case of an artifact: random inputs and the answers that the operations' definitions give for them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from cuvil_edge.errors import InputError, ShapeError
from cuvil_edge.ir.check import Check
from cuvil_edge.ir.dim import Symbol, evaluate
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.evaluate import reference_run
from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.units import format_bytes

_BATCH_VALUES = (1, 2, 4, 8)
_EXTENT_VALUES = (64, 32, 96, 48, 128, 224, 320, 16, 100, 8, 7, 512, 640, 4, 2, 1)
_MAX_TRIALS = 4096


@dataclass(frozen=True)
class ReferenceData:
    """Arrays of one case, in the order of the graph's inputs and outputs, and the symbols' values."""

    symbols: dict[str, int]
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]


def make_reference(graph: Graph, seed: int = 0) -> ReferenceData:
    """Inputs for small extents that satisfy every check, and the answers of the reference evaluator.

    Raises:
        ShapeError: no values were found that satisfy the model's constraints, or the values do not fit into memory.
    """
    symbols = example_symbols(graph.symbols(), list(graph.checks.pending), _batch_symbols(graph))
    _refuse_large(graph, symbols)
    try:
        return _random_case(graph, symbols, seed)
    except MemoryError:
        raise _too_large(graph, symbols, *_largest(graph, symbols)) from None


def _random_case(graph: Graph, symbols: dict[str, int], seed: int) -> ReferenceData:
    for span in (100, 2, 1):  # integers are often indices: a small range is safe where a larger one is not
        random = np.random.default_rng(seed)
        inputs = [_random_array(random, value, symbols, span) for value in graph.inputs]
        try:
            named = {value.name: array for value, array in zip(graph.inputs, inputs, strict=True)}
            return ReferenceData(symbols, inputs, reference_run(graph, named))
        except InputError as error:
            reason = error
    raise ShapeError("no valid input was found for the reference case", thing=reason.thing, found=reason.found)


def _refuse_large(graph: Graph, symbols: Mapping[str, int]) -> None:
    """ShapeError for a value that this machine's memory cannot hold, before it is attempted."""
    value, size_bytes = _largest(graph, symbols)
    if size_bytes > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise _too_large(graph, symbols, value, size_bytes)


def _largest(graph: Graph, symbols: Mapping[str, int]) -> tuple[Value | None, int]:
    sizes = ((value, evaluate(value.type.bytes, symbols)) for value in graph.values())
    return max(sizes, key=lambda pair: pair[1], default=(None, 0))


def _too_large(graph: Graph, symbols: Mapping[str, int], value: Value | None, size_bytes: int) -> ShapeError:
    at = ", ".join(f"{name}={extent}" for name, extent in symbols.items())
    name = "nothing" if value is None else f"{value.name} {value.type}"
    return ShapeError(
        "the model's values do not fit into this machine's memory",
        thing=graph.name,
        found=f"the largest is {name}, {format_bytes(size_bytes)}" + (f" at {at}" if at else ""),
        hint="give smaller extents in the model, or for its symbolic dimensions with --dim" if at else None,
    )


def _batch_symbols(graph: Graph) -> frozenset[Symbol]:
    """Symbols that are the first axis of an input: run with few, whatever the other axes need."""
    first = [value.type.shape[0] for value in graph.inputs if value.type.rank > 1]
    return frozenset(symbol for symbol in graph.symbols() if any(symbol in _symbols(extent) for extent in first))


def _symbols(extent: object) -> tuple[Symbol, ...]:
    return tuple(atom for monomial in getattr(extent, "terms", {}) for atom in monomial if isinstance(atom, Symbol))


def example_symbols(symbols: list[Symbol], checks: list[Check], batch: frozenset[Symbol]) -> dict[str, int]:
    """Small values for all symbols that satisfy their ranges and ``checks``; ShapeError if none were found."""
    candidates = [_candidates(symbol, _BATCH_VALUES if symbol in batch else _EXTENT_VALUES) for symbol in symbols]
    for trial, values in enumerate(product(*candidates)):
        named = {symbol.name: value for symbol, value in zip(symbols, values, strict=True)}
        if all(_holds(check, named) for check in checks):
            return named
        if trial >= _MAX_TRIALS:
            break
    raise ShapeError(
        "no extents were found that satisfy the model's constraints",
        details=tuple(map(str, checks[:10])),
        hint="give the ranges of the dimensions, for example --dim height=32..1024:32",
    )


def _candidates(symbol: Symbol, values: tuple[int, ...]) -> list[int]:
    step = symbol.multiple_of
    fitting = [-(-value // step) * step for value in values]
    inside = [value for value in dict.fromkeys(fitting) if symbol.min <= value <= symbol.max]
    return inside or [-(-symbol.min // step) * step]


def _holds(check: Check, symbols: Mapping[str, int]) -> bool:
    left, right = evaluate(check.left, symbols), evaluate(check.right, symbols)
    return left == right if check.relation == "==" else left >= right


def _random_array(random: np.random.Generator, value: Value, symbols: Mapping[str, int], span: int) -> np.ndarray:
    shape = tuple(evaluate(extent, symbols) for extent in value.type.shape)
    dtype = value.type.dtype
    if dtype.is_float:
        return random.standard_normal(shape).astype(dtype.numpy)
    return random.integers(0, 2 if dtype is DType.BOOL else span, shape).astype(dtype.numpy)
