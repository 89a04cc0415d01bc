"""Runs a graph with the numpy references: slow, and by definition right. Makes the answers that devices are held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from cuvil_edge.errors import InputError
from cuvil_edge.ir.dim import UNBOUNDED, Dim, Extent, Symbol, evaluate
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.ir.op import Op
from cuvil_edge.ir.verify import GraphFault


def reference_run(graph: Graph, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Outputs of ``graph`` for arrays by input name, in the order of its outputs.

    Raises:
        InputError: an input is missing, unknown, or of a wrong type or shape; a symbol is out of its range; a check
            between symbols does not hold; an index in the data is out of range.
        GraphFault: a reference returned something else than was inferred (a fault of the compiler).
    """
    symbols = bind_symbols(graph, inputs)
    live = Counter(value for node in graph.nodes for value in node.inputs if value is not None)
    live.update(graph.outputs)
    arrays: dict[Value, np.ndarray] = {value: np.asarray(inputs[value.name]) for value in graph.inputs}
    for node in graph.nodes:
        operands = [None if value is None else _array_of(value, arrays, symbols) for value in node.inputs]
        results = _run_node(node, operands, symbols)
        for value, array in zip(node.outputs, results if isinstance(results, tuple) else (results,), strict=True):
            arrays[value] = _checked(node, value, np.asarray(array), symbols)
        for operand in node.inputs:
            if operand is not None:
                live[operand] -= 1
                if live[operand] == 0:
                    arrays.pop(operand, None)
    return [_array_of(value, arrays, symbols) for value in graph.outputs]


def _run_node(
    node: Node, operands: list[np.ndarray | None], symbols: Mapping[str, int]
) -> np.ndarray | tuple[np.ndarray, ...]:
    try:
        return at_symbols(node.op, symbols).reference(*operands)
    except IndexError as error:
        raise InputError("an index is out of range", thing=f"node {node.name}", found=str(error)) from None


def bind_symbols(graph: Graph, inputs: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Values of the graph's symbols that the shapes of ``inputs`` give, with everything checked that a run needs."""
    _check_names(graph, inputs)
    symbols: dict[str, int] = {}
    for value in graph.inputs:
        array = np.asarray(inputs[value.name])
        if array.dtype != value.type.dtype.numpy or array.ndim != value.type.rank:
            found = f"{array.dtype} {list(array.shape)}"
            raise InputError("the input does not fit", thing=value.name, expected=str(value.type), found=found)
        for extent, actual in zip(value.type.shape, array.shape, strict=True):
            if isinstance(symbol := _sole_symbol(extent), Symbol):
                _check_range(symbol, symbols.setdefault(symbol.name, actual), value)
    for value in graph.inputs:
        wanted = concrete_shape(value.type.shape, symbols)
        if wanted != np.shape(inputs[value.name]):
            found = str(list(np.shape(inputs[value.name])))
            raise InputError("the input does not fit", thing=value.name, expected=str(list(wanted)), found=found)
    for check in graph.checks.pending:
        left, right = evaluate(check.left, symbols), evaluate(check.right, symbols)
        if left != right if check.relation == "==" else left < right:
            raise InputError(
                check.message, expected=f"{check.left} {check.relation} {check.right}", found=f"{left}, {right}"
            )
    return symbols


def _check_names(graph: Graph, inputs: Mapping[str, np.ndarray]) -> None:
    known = [value.name for value in graph.inputs]
    for name in inputs:
        if name not in known:
            raise InputError("the model has no such input", thing=name, expected=", ".join(known))
    for name in known:
        if name not in inputs:
            raise InputError("an input is missing", thing=name)


def _sole_symbol(extent: Extent) -> Symbol | None:
    """The symbol that ``extent`` consists of, or None for a number or an expression."""
    if isinstance(extent, Dim) and len(extent.terms) == 1:
        [(monomial, coefficient)] = extent.terms.items()
        if coefficient == 1 and len(monomial) == 1 and isinstance(monomial[0], Symbol):
            return monomial[0]
    return None


def _check_range(symbol: Symbol, actual: int, value: Value) -> None:
    if not symbol.min <= actual <= symbol.max or actual % symbol.multiple_of:
        upper = "" if symbol.max == UNBOUNDED else f" and at most {symbol.max}"
        multiple = f", a multiple of {symbol.multiple_of}" if symbol.multiple_of > 1 else ""
        expected = f"{symbol.name} at least {symbol.min}{upper}{multiple}"
        raise InputError("a dimension is out of its range", thing=value.name, expected=expected, found=str(actual))


def at_symbols(op: Op, symbols: Mapping[str, int]) -> Op:
    """``op`` with the extents among its attributes evaluated."""
    changed = {
        field.name: concrete
        for field in fields(op)
        if (concrete := _concrete(own := getattr(op, field.name), symbols)) is not own
    }
    return replace(op, **changed) if changed else op


def _concrete(attribute: object, symbols: Mapping[str, int]) -> object:
    if isinstance(attribute, Dim):
        return evaluate(attribute, symbols)
    if isinstance(attribute, tuple):
        parts = tuple(_concrete(part, symbols) for part in attribute)
        return attribute if all(new is old for new, old in zip(parts, attribute, strict=True)) else parts
    return attribute


def concrete_shape(shape: tuple[Extent, ...], symbols: Mapping[str, int]) -> tuple[int, ...]:
    """A shape at given values of the symbols."""
    return tuple(evaluate(extent, symbols) for extent in shape)


def _array_of(value: Value, arrays: Mapping[Value, np.ndarray], symbols: Mapping[str, int]) -> np.ndarray:
    if value in arrays:
        return arrays[value]
    if value.constant is not None:
        return value.constant
    if value.content is None:
        raise GraphFault(f"%{value.name} is read before it is made")
    elements = [evaluate(extent, symbols) for extent in value.content.flat]
    return np.array(elements, value.type.dtype.numpy).reshape(value.content.shape)


def _checked(node: Node, value: Value, array: np.ndarray, symbols: Mapping[str, int]) -> np.ndarray:
    """``array``, if it is what inference said."""
    if value.type.dtype is not DType.BF16 and array.dtype != value.type.dtype.numpy:
        raise GraphFault(f"{node!r}: the reference gives {array.dtype}")
    if array.shape != concrete_shape(value.type.shape, symbols):
        raise GraphFault(f"{node!r}: the reference gives shape {list(array.shape)} at {dict(symbols)}")
    if value.content is not None:
        expected = [evaluate(extent, symbols) for extent in value.content.flat]
        if not np.array_equal(array.reshape(-1), np.array(expected, array.dtype)):
            raise GraphFault(f"{node!r}: the reference gives other extents than were inferred")
    return array
