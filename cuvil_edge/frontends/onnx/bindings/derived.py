"""Operators that are a few operations each."""

from __future__ import annotations

from cuvil_edge.errors import ModelError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode, normal_axis
from cuvil_edge.frontends.onnx.tensors import element_type
from cuvil_edge.ir.dim import Extent, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.arg_max import ArgMax
from cuvil_edge.ops.cast import Cast
from cuvil_edge.ops.equal import Equal
from cuvil_edge.ops.gather import Gather
from cuvil_edge.ops.greater_or_equal import GreaterOrEqual
from cuvil_edge.ops.less import Less
from cuvil_edge.ops.less_or_equal import LessOrEqual
from cuvil_edge.ops.range import Range
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.unsqueeze import Unsqueeze
from cuvil_edge.ops.where import Where


def _counting(node: OnnxNode, extent: Extent, axis: int, rank: int, start: int = 0) -> Value:
    """``start``, ``start + 1``, ... along ``axis``, extent 1 on the other axes of ``rank``."""
    numbers = node.add(Range(start, extent + start, 1, DType.I64))
    return node.add(Reshape(tuple(extent if other == axis else 1 for other in range(rank))), numbers)


def _diagonal(node: OnnxNode, rows: Extent, columns: Extent, offset: int) -> tuple[Value, Value]:
    """Row numbers plus ``offset`` [rows, 1] and column numbers [1, columns]: equal on a diagonal."""
    return _counting(node, rows, 0, 2, offset), _counting(node, columns, 1, 2)


@binds("Trilu", since=14)
def trilu(node: OnnxNode) -> Value:
    """The upper or lower triangle of matrices, zero elsewhere."""
    x = node.input(0)
    if x.type.rank < 2:
        raise ModelError("a triangle needs a matrix", found=str(x.type))
    offset = 0 if node.optional(1) is None else int(node.scalar(1, "the diagonal"))
    rows, columns = _diagonal(node, x.type.shape[-2], x.type.shape[-1], offset)
    compare = GreaterOrEqual() if node.attributes.flag("upper", True) else LessOrEqual()
    return node.add(Where(), node.add(compare, columns, rows), x, node.array(0, x))


@binds("EyeLike", since=9)
def eye_like(node: OnnxNode) -> Value:
    """Ones on a diagonal."""
    x, read = node.input(0), node.attributes
    if x.type.rank != 2:
        raise ModelError("EyeLike needs a matrix", found=str(x.type))
    dtype = element_type(read.integer("dtype")) if read.has("dtype") else x.type.dtype
    height, width = x.type.shape
    rows, columns = _diagonal(node, height, width, read.integer("k", 0))
    return node.add(Cast(dtype), node.add(Equal(), columns, rows))


@binds("OneHot", since=9)
def one_hot(node: OnnxNode) -> Value:
    """A new axis that is ``on`` at the index and ``off`` elsewhere; negative indices count from the end."""
    indices, values = node.input(0), node.input(2)
    depth = int(node.scalar(1, "the depth"))
    axis = normal_axis(node.attributes.integer("axis", -1), indices.type.rank + 1)
    if values.type.shape != (2,):
        raise ModelError("values are not a pair", found=str(values.type))
    whole = node.add(Cast(DType.I64), indices)
    numbers = _counting(node, depth, axis, indices.type.rank + 1)
    from_end = node.add(Add(), whole, node.array(depth, DType.I64))
    wrapped = node.add(Where(), node.add(Less(), whole, node.array(0, DType.I64)), from_end, whole)
    is_on = node.add(Equal(), node.add(Unsqueeze((axis,)), wrapped), numbers)
    off, on = (node.add(Gather(0), values, node.array(index, DType.I64)) for index in (0, 1))
    return node.add(Where(), is_on, on, off)


@binds("Hardmax")
def hardmax_of_matrix(node: OnnxNode) -> Value:
    """Before opset 13 all axes from ``axis`` on are one row."""
    x = node.input(0)
    axis = node.attributes.integer("axis", 1)
    axis = x.type.rank if axis == x.type.rank else normal_axis(axis, x.type.rank)
    rows = node.add(Reshape((product(x.type.shape[:axis]), product(x.type.shape[axis:]))), x)
    return node.add(Reshape(x.type.shape), _hardmax(node, rows, 1))


@binds("Hardmax", since=13)
def hardmax(node: OnnxNode) -> Value:
    """One at the first maximum along an axis, zero elsewhere."""
    x = node.input(0)
    return _hardmax(node, x, normal_axis(node.attributes.integer("axis", -1), x.type.rank))


def _hardmax(node: OnnxNode, x: Value, axis: int) -> Value:
    position = node.add(ArgMax(axis), x)
    is_there = node.add(Equal(), position, _counting(node, x.type.shape[axis], axis, x.type.rank))
    return node.add(Cast(x.type.dtype), is_there)
