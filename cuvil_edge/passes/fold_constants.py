"""fold_constants: compute what does not depend on run-time inputs, and detach shape arithmetic from the program."""

from __future__ import annotations

import numpy as np

from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.passes.base import Pass, PassLog

_MAX_GROWTH_BYTES = 64 << 20
"""A folded tensor may be this much larger than its inputs (a wide Expand stays a step)."""


class FoldConstants(Pass):
    """Nodes of constants become constants; integers that are known as extents become values without a producer."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""
        replacements: dict[Value, Value] = {}
        kept: list[Node] = []
        for node in graph.nodes:
            node.inputs = [replacements.get(value, value) if value is not None else None for value in node.inputs]
            folded = self._fold(node)
            if folded is None:
                kept.append(node)
                continue
            log.changed(f"folded {node.op.name}")
            replacements.update(zip(node.outputs, folded, strict=True))
        graph.nodes = kept
        graph.replace_uses(replacements)
        log.changes.update({"removed dead nodes": removed} if (removed := graph.remove_dead()) else {})

    def _fold(self, node: Node) -> list[Value] | None:
        contents = [value.content for value in node.outputs if value.content is not None]
        if len(contents) == len(node.outputs):
            return [_detached(value, content) for value, content in zip(node.outputs, contents, strict=True)]
        if any(value.constant is None for value in node.operands):
            return None
        sizes = [size for value in node.outputs if isinstance(size := value.type.bytes, int)]
        known = sum(value.data.nbytes for value in node.operands)
        if len(sizes) != len(node.outputs) or sum(sizes) > known + _MAX_GROWTH_BYTES:
            return None
        with np.errstate(all="ignore"):
            results = node.op.reference(*(None if value is None else value.constant for value in node.inputs))
        arrays = results if isinstance(results, tuple) else (results,)
        return [_constant(value, array) for value, array in zip(node.outputs, arrays, strict=True)]


def _constant(value: Value, array: np.ndarray) -> Value:
    array = np.asarray(array, dtype=value.type.dtype.numpy)
    return Value(value.name, TensorType(value.type.dtype, array.shape), array)


def _detached(value: Value, content: np.ndarray) -> Value:
    """A constant where every extent is a plain int, else a value that is known only as extents."""
    if all(isinstance(extent, int | np.integer | bool | np.bool_) for extent in content.flat):
        return _constant(value, content)
    detached = Value(value.name, value.type)
    detached.content = content
    return detached
