"""Gathers with several coordinates as one gather from flattened data."""

from __future__ import annotations

from collections.abc import Sequence

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Extent, Shape, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.cast import Cast
from cuvil_edge.ops.extents import Extents
from cuvil_edge.ops.less import Less
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.range import Range
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.where import Where


def extent_scalar(builder: GraphBuilder, extent: Extent) -> Value:
    """``extent`` as an i64 scalar."""
    return builder.add1(Extents((extent,), ()))


def wrapped(builder: GraphBuilder, indices: Value, extent: Extent) -> Value:
    """``indices`` as i64, negative ones counted from the end of ``extent``."""
    if indices.type.dtype is not DType.I64:
        indices = builder.add1(Cast(DType.I64), indices)
    from_end = builder.add1(Add(), indices, extent_scalar(builder, extent))
    return builder.add1(Where(), builder.add1(Less(), indices, extent_scalar(builder, 0)), from_end, indices)


def counting(builder: GraphBuilder, shape: Shape, axis: int) -> Value:
    """0, 1, 2, ... along ``axis``, with extent 1 on the other axes of ``shape``."""
    numbers = builder.add1(Range(0, shape[axis], 1, DType.I64))
    return builder.add1(Reshape(tuple(shape[axis] if other == axis else 1 for other in range(len(shape)))), numbers)


def linear_index(builder: GraphBuilder, coordinates: Sequence[Value], shape: Shape) -> Value:
    """The row-major position in ``shape`` of coordinates that broadcast against each other."""
    total: Value | None = None
    for axis, coordinate in enumerate(coordinates):
        stride = product(shape[axis + 1 :])
        part = coordinate if stride == 1 else builder.add1(Mul(), coordinate, extent_scalar(builder, stride))
        total = part if total is None else builder.add1(Add(), total, part)
    assert total is not None
    return total
