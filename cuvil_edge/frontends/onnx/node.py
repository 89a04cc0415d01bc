"""One ONNX node as the bindings see it: typed attributes, values of the graph, and a way to add operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.attributes import Attributes
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Extent
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Op

_MAX_FOLDED_ELEMENTS = 1 << 16


class OnnxNode:
    """What a binding works with.

    Attributes:
        op_type: the operator's name.
        version: the opset version of the operator's domain.
        layer: the user's name of the node (made unique).
        attributes: the node's attributes.
        output_used: for each output of the node, whether it has a name.
        builder: adds operations under the node's layer.
    """

    def __init__(
        self,
        op_type: str,
        version: int,
        layer: str,
        attributes: Attributes,
        inputs: Sequence[Value | None],
        output_used: Sequence[bool],
        builder: GraphBuilder,
    ) -> None:
        self.op_type = op_type
        self.version = version
        self.layer = layer
        self.attributes = attributes
        self.output_used = tuple(output_used)
        self._inputs = list(inputs)
        self.builder = builder

    @property
    def input_count(self) -> int:
        """The number of inputs, those that are left out included."""
        return len(self._inputs)

    def inputs(self) -> list[Value]:
        """All inputs of an operator that takes any number of them; none may be left out."""
        return [self.input(index) for index in range(max(1, len(self._inputs)))]

    def input(self, index: int) -> Value:
        """A required input."""
        value = self.optional(index)
        if value is None:
            raise ModelError(f"input {index} is missing")
        return value

    def optional(self, index: int) -> Value | None:
        """An input that may be left out."""
        return self._inputs[index] if index < len(self._inputs) else None

    def limit_inputs(self, count: int) -> None:
        """ModelError if there are more inputs than the operator has."""
        if len(self._inputs) > count:
            raise ModelError("too many inputs", expected=f"at most {count}", found=str(len(self._inputs)))

    def constant(self, index: int, what: str) -> np.ndarray:
        """The elements of an input that must be known while compiling."""
        value = self.input(index)
        if value.constant is not None:
            return value.constant
        raise UnsupportedError(
            f"{what} (input {index}, {value.name!r}) is computed while the model runs",
            expected="a constant",
            hint="fold it into a constant, for example with onnxsim or by fixing the input's shape",
        )

    def scalar(self, index: int, what: str) -> float | int | bool:
        """The only element of an input that must be known while compiling."""
        array = self.constant(index, what)
        if array.size != 1:
            raise ModelError(f"{what} (input {index}) is not one number", found=f"{array.size} elements")
        element: float | int | bool = array.reshape(-1)[0].item()
        return element

    def extents(self, index: int, what: str) -> list[Extent]:
        """The elements of an integer vector (or scalar) that is constant or computed from shapes."""
        value = self.input(index)
        content = value.known_content()
        if content is None:
            raise UnsupportedError(
                f"{what} (input {index}, {value.name!r}) depends on the data of the run",
                expected="a constant, or something computed from shapes",
            )
        if content.ndim > 1:
            raise ModelError(f"{what} (input {index}) is not a vector", found=str(value.type))
        return list(content.reshape(-1))

    def integers(self, index: int, what: str) -> tuple[int, ...]:
        """As ``extents``, where symbols are not possible."""
        found = self.extents(index, what)
        if any(isinstance(extent, Dim) for extent in found):
            raise UnsupportedError(f"{what} (input {index}) depends on a symbolic dimension", found=str(found))
        return tuple(int(extent) for extent in found)  # type: ignore[arg-type]

    def array(self, elements: object, like: Value | DType) -> Value:
        """A constant with the element type of another value."""
        dtype = like if isinstance(like, DType) else like.type.dtype
        name = f"{self.layer}.constant"
        return self.builder.constant(np.asarray(elements, dtype.numpy), name)

    def add(self, op: Op, *inputs: Value | None) -> Value:
        """Add an operation with one output."""
        return self.add_all(op, inputs)[0]

    def add_all(self, op: Op, inputs: Sequence[Value | None]) -> list[Value]:
        """Add an operation; if its outputs are small and follow from constants, they become constants at once."""
        count = len(self.builder.added)
        name = self.layer if count == 0 else f"{self.layer}.{count}"
        outputs = self.builder.add(op, inputs, name=name)
        folded = _fold(op, inputs, outputs)
        if folded is not None:
            self.builder.graph.nodes.pop()
            self.builder.added.pop()
            return [self.builder.constant(array, value.name) for array, value in zip(folded, outputs, strict=True)]
        return outputs


def _fold(op: Op, inputs: Sequence[Value | None], outputs: Sequence[Value]) -> list[np.ndarray] | None:
    """Elements of the outputs if they are known and few."""
    if not all(isinstance(n := v.type.elements, int) and n <= _MAX_FOLDED_ELEMENTS for v in outputs):
        return None
    if all(value.content is not None for value in outputs):
        contents = [np.asarray(value.content) for value in outputs]
        if all(isinstance(extent, int) for content in contents for extent in content.flat):
            return [content.astype(v.type.dtype.numpy) for content, v in zip(contents, outputs, strict=True)]
        return None
    if not inputs or not all(v is None or _is_small_constant(v) for v in inputs):
        return None
    results = op.reference(*(None if value is None else value.constant for value in inputs))
    return list(map(np.asarray, results if isinstance(results, tuple) else (results,)))


def _is_small_constant(value: Value) -> bool:
    return value.constant is not None and value.constant.size <= _MAX_FOLDED_ELEMENTS


def normal_axis(axis: int, rank: int) -> int:
    """``axis`` in ``[0, rank)``; ModelError unless it is in ``[-rank, rank)``."""
    if not -rank <= axis < max(rank, 1):
        raise ModelError("axis is out of range", expected=f"{-rank} to {rank - 1}", found=str(axis))
    return axis % rank if rank else 0


def normal_axes(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Each axis in ``[0, rank)``; ModelError for one that comes twice."""
    normal = tuple(normal_axis(axis, rank) for axis in axes)
    if len(set(normal)) != len(normal):
        raise ModelError("an axis is given twice", found=str(list(axes)))
    return normal
