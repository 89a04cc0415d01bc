"""Attributes of an ONNX node, read by name and kind; what nobody reads is reported, not ignored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from onnx import AttributeProto, GraphProto

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.tensors import TensorReader

_NAMES = {value: name.lower() for name, value in AttributeProto.AttributeType.items()}


class Attributes:
    """The attributes of one node.

    Args:
        protos: the node's attributes; a reference to a function's attribute is looked up in ``outer``.
        outer: attributes of the calling node, inside a function.
        tensors: reads attributes that are tensors.

    Every reader returns ``default`` for an attribute that is not given, and raises ModelError for a wrong kind.
    """

    def __init__(
        self, protos: Iterable[AttributeProto], outer: Mapping[str, AttributeProto], tensors: TensorReader
    ) -> None:
        self._protos: dict[str, AttributeProto] = {}
        self._read: set[str] = set()
        self._tensors = tensors
        for proto in protos:
            if proto.name in self._protos:
                raise ModelError(f"attribute {proto.name!r} is given twice")
            if not proto.ref_attr_name:
                self._protos[proto.name] = proto
            elif proto.ref_attr_name in outer:
                self._protos[proto.name] = outer[proto.ref_attr_name]

    def protos(self) -> Mapping[str, AttributeProto]:
        """All attributes as they are, for a call of a function; counts as reading them."""
        self._read.update(self._protos)
        return self._protos

    def has(self, name: str) -> bool:
        """Whether the attribute is given."""
        return name in self._protos

    def integer(self, name: str, default: int | None = None) -> Any:
        """An int."""
        return self._get(name, AttributeProto.INT, "i", default)

    def flag(self, name: str, default: bool = False) -> bool:
        """An int that means a bool."""
        return bool(self.integer(name, int(default)))

    def real(self, name: str, default: float | None = None) -> Any:
        """A float: the shortest decimal that is the stored 32-bit number, so that 0.1 is 0.1."""
        value = self._get(name, AttributeProto.FLOAT, "f", default)
        return value if value is default else _shortest(value)

    def text(self, name: str, default: str | None = None) -> Any:
        """A string."""
        value = self._get(name, AttributeProto.STRING, "s", default)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def integers(self, name: str, default: Iterable[int] | None = None) -> Any:
        """A tuple of ints."""
        value = self._get(name, AttributeProto.INTS, "ints", default)
        return None if value is None else tuple(value)

    def reals(self, name: str, default: Iterable[float] | None = None) -> Any:
        """A tuple of floats, as ``real``."""
        value = self._get(name, AttributeProto.FLOATS, "floats", default)
        return None if value is None else tuple(map(_shortest, value))

    def tensor(self, name: str) -> np.ndarray | None:
        """An array."""
        proto = self._get(name, AttributeProto.TENSOR, "t", None)
        return None if proto is None else self._tensors.read(proto)

    def sparse_tensor(self, name: str) -> np.ndarray | None:
        """A dense array of a sparse tensor."""
        proto = self._get(name, AttributeProto.SPARSE_TENSOR, "sparse_tensor", None)
        return None if proto is None else self._tensors.read_sparse(proto)

    def graph(self, name: str) -> GraphProto | None:
        """A subgraph."""
        graph: GraphProto | None = self._get(name, AttributeProto.GRAPH, "g", None)
        return graph

    def choice(self, name: str, default: str, choices: Iterable[str]) -> str:
        """A string that is one of ``choices``; UnsupportedError for another."""
        value: str = self.text(name, default)
        if value not in choices:
            raise UnsupportedError(f"attribute {name}", expected=" or ".join(choices), found=value)
        return value

    def ignore(self, *names: str) -> None:
        """These have no meaning for the result."""
        self._read.update(names)

    def refuse_unread(self) -> None:
        """UnsupportedError for the first attribute that nobody has read: it would change the result."""
        for name in self._protos:
            if name not in self._read:
                raise UnsupportedError(f"attribute {name!r} is not known")

    def _get(self, name: str, kind: int, field: str, default: Any) -> Any:
        self._read.add(name)
        proto = self._protos.get(name)
        if proto is None:
            return default
        if proto.type != kind and not (proto.type == AttributeProto.UNDEFINED and proto.HasField(field)):
            found = _NAMES.get(proto.type, str(proto.type))
            raise ModelError(f"attribute {name} is of a wrong kind", expected=_NAMES[kind], found=found)
        return getattr(proto, field)


def _shortest(value: float) -> float:
    return float(str(np.float32(value))) if math.isfinite(value) else value
