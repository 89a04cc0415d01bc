"""Adds nodes to a graph with their types inferred and their shape contents tracked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cuvil_edge.errors import CuvilError
from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.ir.op import Op
from cuvil_edge.ir.tensor_type import TensorType

_MAX_CONTENT_ELEMENTS = 4096


class GraphBuilder:
    """Appends to ``graph``. Nodes added between are named after the node that they stand for.

    Args:
        graph: the graph to extend.
        name: base of the names of new nodes and values.
        layers: the user's layers that new nodes compute.
    """

    def __init__(self, graph: Graph, name: str = "", layers: tuple[str, ...] = ()) -> None:
        self.graph = graph
        self.name = name
        self.layers = layers
        self.added: list[Node] = []

    def input(self, name: str, dtype: DType, shape: tuple[Extent, ...]) -> Value:
        """A new input of the graph."""
        value = Value(name, TensorType(dtype, shape))
        self.graph.inputs.append(value)
        return value

    def constant(self, array: np.ndarray, name: str = "") -> Value:
        """A new constant; its element type is the array's."""
        array = np.ascontiguousarray(array) if np.ndim(array) else np.asarray(array)
        return Value(name or f"{self.name}.constant", TensorType(DType.of(array), array.shape), array)

    def add(
        self,
        op: Op,
        inputs: Sequence[Value | None],
        *,
        name: str | None = None,
        output_names: Sequence[str] = (),
        layers: tuple[str, ...] | None = None,
    ) -> list[Value]:
        """Append ``op`` applied to ``inputs`` and return its outputs.

        Raises:
            ShapeError, UnsupportedError: from the operation's inference, with the node's name as the thing.
        """
        name = self.name if name is None else name
        try:
            types = op.infer(inputs, self.graph.checks)
        except CuvilError as error:
            error.thing = error.thing or f"node {name} ({op.name})"
            raise
        suffix = [""] + [f".{index}" for index in range(1, len(types))]
        names = [*output_names, *(f"{name}{part}" for part in suffix[len(output_names) :])]
        outputs = [Value(value_name, type_) for value_name, type_ in zip(names, types, strict=False)]
        node = Node(op, inputs, outputs, name, self.layers if layers is None else layers)
        self._track_content(node)
        self.graph.nodes.append(node)
        self.added.append(node)
        return outputs

    def add1(self, op: Op, *inputs: Value | None, name: str | None = None) -> Value:
        """``add`` for an operation with one output."""
        return self.add(op, inputs, name=name)[0]

    def _track_content(self, node: Node) -> None:
        """Compute small integer outputs symbolically where every input's content is known."""
        if not node.op.shape_arithmetic or not all(map(_may_have_content, node.outputs)):
            return
        try:
            results = node.op.contents(node.inputs)
        except (TypeError, ValueError, ArithmeticError):
            return  # an operation on extents that has no symbolic answer, such as comparing two unknown ones
        for value, result in zip(node.outputs, results or (), strict=False):
            value.content = np.asarray(result, dtype=object)


def _may_have_content(value: Value) -> bool:
    elements = value.type.elements
    return not value.type.dtype.is_float and isinstance(elements, int) and elements <= _MAX_CONTENT_ELEMENTS
