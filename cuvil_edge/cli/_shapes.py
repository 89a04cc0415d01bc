"""Tensors and symbols of a compiled model as text and as JSON, from its manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuvil_edge.artifact.manifest import SymbolInfo


def shape_text(shape: Iterable[object]) -> str:
    """``N x 3 x 224 x 224``; ``scalar`` for rank 0."""
    return " x ".join(str(extent) for extent in shape) or "scalar"


def tensor_rows(label: str, tensors: Sequence[Any]) -> list[tuple[str, str]]:
    """Table rows of inputs or outputs: the label stands in the first row only."""
    names = max((len(tensor.name) for tensor in tensors), default=0)
    return [
        (label if index == 0 else "", f"{tensor.name:<{names}}  {tensor.dtype}  {shape_text(tensor.shape)}")
        for index, tensor in enumerate(tensors)
    ]


def symbol_text(symbol: SymbolInfo) -> str:
    """``height: 32 to 1024, a multiple of 32``."""
    span = f"{symbol.min} or more" if symbol.max is None else f"{symbol.min} to {symbol.max}"
    return f"{symbol.name}: {span}" + (f", a multiple of {symbol.multiple_of}" if symbol.multiple_of > 1 else "")


def symbols_text(values: Mapping[str, int]) -> str:
    """``N=1, height=640``."""
    return ", ".join(f"{name}={value}" for name, value in values.items())


def tensor_json(tensor: Any) -> dict[str, Any]:
    """Name, dtype and shape (integers and expressions)."""
    shape = [extent if isinstance(extent, int) else str(extent) for extent in tensor.shape]
    return {"name": tensor.name, "dtype": str(tensor.dtype), "shape": shape}
