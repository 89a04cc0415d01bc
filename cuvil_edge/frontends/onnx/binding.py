"""The table of bindings: which function turns which ONNX operator, from which opset on, into operations."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from cuvil_edge.frontends.onnx.node import OnnxNode
from cuvil_edge.ir.graph import Value

Result = Value | Sequence[Value]
Function = Callable[[OnnxNode], Result]
F = TypeVar("F", bound=Function)

_QUANTIZED = (
    "QuantizeLinear",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "QLinearConv",
    "QLinearMatMul",
    "ConvInteger",
    "MatMulInteger",
)
_REASONS = {
    **dict.fromkeys(_QUANTIZED, "quantized models are not supported"),
    **dict.fromkeys(("Loop", "Scan"), "loops are not supported"),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), "recurrent layers are not supported"),
    **dict.fromkeys(
        ("NonZero", "NonMaxSuppression", "Unique", "Compress"), "the extents of its output depend on the data"
    ),
}
_TABLE: dict[tuple[str, str], list[tuple[int, Function]]] = {}


def binds(*op_types: str, since: int = 1, domain: str = "") -> Callable[[F], F]:
    """Register the function for operators, from opset ``since`` until a later registration of the same operator."""

    def register(function: F) -> F:
        for op_type in op_types:
            _TABLE.setdefault((domain, op_type), []).append((since, function))
        return function

    return register


@cache
def load_bindings() -> None:
    """Import every module of ``bindings``: each adds its operators to the table."""
    package = importlib.import_module("cuvil_edge.frontends.onnx.bindings")
    for info in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{info.name}")


def find_binding(domain: str, op_type: str, opset: int) -> Function | str:
    """The function for an operator at an opset, or the reason why there is none."""
    load_bindings()
    candidates = _TABLE.get((domain, op_type), [])
    fitting = [(since, function) for since, function in candidates if since <= opset]
    if fitting:
        return max(fitting, key=lambda item: item[0])[1]
    if candidates:
        return f"exists only from opset {min(since for since, _ in candidates)} on"
    return _REASONS.get(op_type, "the operator is not supported") if domain == "" else "the operator is not supported"


def supported_operators() -> dict[tuple[str, str], list[int]]:
    """(domain, operator) to the opsets from which there is a binding."""
    load_bindings()
    return {key: sorted(since for since, _ in entries) for key, entries in sorted(_TABLE.items())}
