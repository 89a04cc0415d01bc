"""Graphs: values, nodes in topological order, inputs and outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent, Symbol, symbols_of
from cuvil_edge.ir.op import Op
from cuvil_edge.ir.tensor_type import TensorType

OpClass = TypeVar("OpClass", bound=Op)


class Value:
    """A tensor in a graph: an input, a constant, or the output of one node. Compared by identity.

    Attributes:
        name: the user's name for it, or one made from the node's.
        type: element type and shape.
        constant: its elements, for a constant; else None.
        content: for small integer tensors computed from shapes: object array of extents; else None.
        producer: the node that makes it, or None for inputs and constants.
    """

    __slots__ = ("constant", "content", "name", "producer", "type")

    def __init__(self, name: str, type: TensorType, constant: np.ndarray | None = None) -> None:
        self.name = name
        self.type = type
        self.constant = constant
        self.content: np.ndarray | None = None
        self.producer: Node | None = None

    def known_content(self) -> np.ndarray | None:
        """The elements as an object array of extents where they are known while compiling, else None."""
        if self.content is not None:
            return self.content
        if self.constant is not None and self.constant.dtype.kind in "iub" and self.constant.size <= 4096:
            return self.constant.astype(object)
        return None

    @property
    def data(self) -> np.ndarray:
        """The elements of a value that is known to be a constant."""
        assert self.constant is not None, f"{self!r} is not a constant"
        return self.constant

    def __repr__(self) -> str:
        return f"%{self.name}: {self.type}"


class Node:
    """One operation applied to values.

    Attributes:
        layers: names of the user's nodes that this one computes; never lost in a rewrite.
    """

    __slots__ = ("inputs", "layers", "name", "op", "outputs")

    def __init__(
        self, op: Op, inputs: Sequence[Value | None], outputs: Sequence[Value], name: str, layers: tuple[str, ...]
    ) -> None:
        self.op = op
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.name = name
        self.layers = layers
        for value in self.outputs:
            value.producer = self

    @property
    def output(self) -> Value:
        """The first output."""
        return self.outputs[0]

    @property
    def operands(self) -> list[Value]:
        """The inputs that are not left out."""
        return [value for value in self.inputs if value is not None]

    def operand(self, index: int) -> Value:
        """An input that the operation cannot do without."""
        value = self.inputs[index]
        assert value is not None, f"{self.name}: input {index} is left out"
        return value

    def optional(self, index: int) -> Value | None:
        """An input that may be left out."""
        return self.inputs[index] if index < len(self.inputs) else None

    def op_as(self, kind: type[OpClass]) -> OpClass:
        """The operation, which is known to be of this class."""
        assert isinstance(self.op, kind), f"{self.name} is no {kind.__name__}"
        return self.op

    def __repr__(self) -> str:
        inputs = ", ".join("-" if value is None else f"%{value.name}" for value in self.inputs)
        return f"{', '.join(map(repr, self.outputs))} = {self.op}({inputs})"


class Graph:
    """A computation: ``nodes`` are in topological order; each value has one producer."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.output_names: list[str] = []
        self.nodes: list[Node] = []
        self.checks = Checks()

    def users(self) -> dict[Value, list[Node]]:
        """The nodes that read each value, in order; a node appears once for each of its uses."""
        found: dict[Value, list[Node]] = defaultdict(list)
        for node in self.nodes:
            for value in node.operands:
                found[value].append(node)
        return found

    def values(self) -> Iterator[Value]:
        """Inputs and all node outputs, in order."""
        yield from self.inputs
        for node in self.nodes:
            yield from node.outputs

    def symbols(self) -> list[Symbol]:
        """The symbols of the inputs, in order of appearance."""
        found: dict[Symbol, None] = {}
        for value in self.inputs:
            for extent in value.type.shape:
                found.update(dict.fromkeys(sorted(symbols_of(extent), key=str)))
        return list(found)

    def replace_uses(self, replacements: dict[Value, Value]) -> None:
        """Let every reader of a key read its value instead; chains of replacements are followed."""

        def final(value: Value | None) -> Value | None:
            while value in replacements:
                value = replacements[value]
            return value

        for node in self.nodes:
            node.inputs = [final(value) for value in node.inputs]
        self.outputs = [value for value in map(final, self.outputs) if value is not None]

    def remove_dead(self) -> int:
        """Drop the nodes whose outputs nobody reads; returns how many."""
        live = set(self.outputs)
        kept: list[Node] = []
        for node in reversed(self.nodes):
            if any(value in live for value in node.outputs):
                live.update(node.operands)
                kept.append(node)
        removed = len(self.nodes) - len(kept)
        self.nodes = kept[::-1]
        return removed


def merged_layers(nodes: Iterable[Node]) -> tuple[str, ...]:
    """The layer names of several nodes, in order, each once."""
    return tuple(dict.fromkeys(layer for node in nodes for layer in node.layers))


def extents_text(shape: Sequence[Extent]) -> list[int | str]:
    """A shape as the manifest stores it: ints, and expressions as text."""
    return [extent if isinstance(extent, int) else str(extent) for extent in shape]
