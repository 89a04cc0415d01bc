"""Operators that change the shape and not the elements, or that compute with shapes."""

from __future__ import annotations

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode, normal_axes, normal_axis
from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops.constant_of_shape import ConstantOfShape
from cuvil_edge.ops.expand import Expand, expand_target
from cuvil_edge.ops.flatten import Flatten
from cuvil_edge.ops.identity import Identity
from cuvil_edge.ops.range import Range
from cuvil_edge.ops.reshape import Reshape, resolve_target
from cuvil_edge.ops.shape import Shape
from cuvil_edge.ops.size import Size
from cuvil_edge.ops.squeeze import Squeeze
from cuvil_edge.ops.tile import Tile
from cuvil_edge.ops.transpose import Transpose
from cuvil_edge.ops.unsqueeze import Unsqueeze


@binds("Reshape")
def reshape(node: OnnxNode) -> Value:
    """To a target that is constant or computed from shapes."""
    x = node.input(0)
    target = node.extents(1, "the target shape")
    return node.add(Reshape(resolve_target(x.type.shape, target, node.attributes.flag("allowzero"))), x)


@binds("Flatten")
def flatten(node: OnnxNode) -> Value:
    """Two axes."""
    axis, rank = node.attributes.integer("axis", 1), node.input(0).type.rank
    if not -rank <= axis <= rank:
        raise ModelError("axis is out of range", expected=f"{-rank} to {rank}", found=str(axis))
    return node.add(Flatten(axis + rank if axis < 0 else axis), node.input(0))


@binds("Transpose")
def transpose(node: OnnxNode) -> Value:
    """By default the axes reversed."""
    rank = node.input(0).type.rank
    permutation = node.attributes.integers("perm", reversed(range(rank)))
    return node.add(Transpose(tuple(normal_axis(axis, rank) for axis in permutation)), node.input(0))


@binds("Identity")
def identity(node: OnnxNode) -> Value:
    """The input, under another name."""
    return node.add(Identity(), node.input(0))


def _axes(node: OnnxNode) -> tuple[int, ...] | None:
    """Axes from the attribute (before opset 13) or the second input; None if they are not given."""
    if node.version < 13:
        axes: tuple[int, ...] | None = node.attributes.integers("axes", None)
        return axes
    return None if node.optional(1) is None else node.integers(1, "the axes")


@binds("Squeeze")
def squeeze(node: OnnxNode) -> Value:
    """Without axes: every axis whose extent is 1."""
    x, axes = node.input(0), _axes(node)
    if axes is None:
        axes = tuple(axis for axis, extent in enumerate(x.type.shape) if extent == 1)
    return node.add(Squeeze(normal_axes(axes, x.type.rank)), x)


@binds("Unsqueeze")
def unsqueeze(node: OnnxNode) -> Value:
    """Axes are positions in the output."""
    x, axes = node.input(0), _axes(node)
    if axes is None:
        raise ModelError("the axes are missing")
    return node.add(Unsqueeze(normal_axes(axes, x.type.rank + len(axes))), x)


@binds("Expand", since=8)
def expand(node: OnnxNode) -> Value:
    """To a target that is constant or computed from shapes; its extents of 1 keep the input's."""
    x = node.input(0)
    target = tuple(node.extents(1, "the target shape"))
    return node.add(Expand(expand_target(x.type.shape, target, Checks())), x)


@binds("Tile")
def tile(node: OnnxNode) -> Value:
    """Repeats that are constant or computed from shapes."""
    return node.add(Tile(tuple(node.extents(1, "the repeats"))), node.input(0))


@binds("Shape")
def shape(node: OnnxNode) -> Value:
    """Extents of all axes, or (from opset 15 on) of a range of them, clamped like a slice."""
    rank = node.input(0).type.rank
    start, end = node.attributes.integer("start", 0), node.attributes.integer("end", rank)
    start, end = (min(max(limit + rank if limit < 0 else limit, 0), rank) for limit in (start, end))
    return node.add(Shape(start, max(start, end)), node.input(0))


@binds("Size")
def size(node: OnnxNode) -> Value:
    """The number of elements."""
    return node.add(Size(), node.input(0))


@binds("ConstantOfShape", since=9)
def constant_of_shape(node: OnnxNode) -> Value:
    """A shape that is constant or computed from shapes."""
    value = node.attributes.tensor("value")
    if value is None:
        return node.add(ConstantOfShape(tuple(node.extents(0, "the shape"))))
    if value.size != 1:
        raise ModelError("attribute value is not one number", found=f"{value.size} elements")
    return node.add(ConstantOfShape(tuple(node.extents(0, "the shape")), value.reshape(-1)[0].item(), DType.of(value)))


@binds("Range", since=11)
def range_(node: OnnxNode) -> Value:
    """Limits that are constant or computed from shapes."""
    dtype = node.input(0).type.dtype
    words = ("the start", "the limit", "the step")
    if dtype.is_float:
        start, limit, delta = (float(node.scalar(index, word)) for index, word in enumerate(words))
        return node.add(Range(start, limit, delta, dtype))
    extents = [node.extents(index, word) for index, word in enumerate(words)]
    if any(len(extent) != 1 for extent in extents):
        raise ModelError("start, limit and step are not scalars")
    [first], [last], [step] = extents
    return node.add(Range(first, last, step, dtype))


@binds("Dropout", since=7)
def dropout(node: OnnxNode) -> list[Value]:
    """Does nothing outside training; the mask, if asked for, is True everywhere."""
    node.attributes.ignore("ratio", "seed")
    if node.optional(2) is not None and node.scalar(2, "training_mode"):
        raise UnsupportedError("training_mode is not supported", hint="export the model in inference mode")
    x = node.input(0)
    outputs = [node.add(Identity(), x)]
    if len(node.output_used) > 1:
        outputs.append(node.add(ConstantOfShape(x.type.shape, True, DType.BOOL)))
    return outputs
