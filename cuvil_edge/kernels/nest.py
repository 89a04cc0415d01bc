"""Loop nests over strided operands: what the loop kernels execute, in extents over the model's symbols.

A nest is an iteration space and, for each operand, one stride in elements for each of its axes. Every
element-wise operation and every movement of data is one. Here nests are simplified symbolically, so that few, long axes
remain: what is left decides which kernel is generated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuvil_edge.ir.dim import Extent, Shape, product


@dataclass(frozen=True)
class Access:
    """How one operand is walked: its element ``sum(strides[i] * index[i])``; strides may be 0 or negative."""

    strides: tuple[Extent, ...]


@dataclass(frozen=True)
class Nest:
    """An iteration space; ``accesses`` has one entry for each operand, the output last. All have the nest's rank."""

    extents: Shape
    accesses: tuple[Access, ...]

    @property
    def output(self) -> Access:
        """The access of the operand that is written."""
        return self.accesses[-1]

    @property
    def elements(self) -> Extent:
        """The number of points of the iteration space."""
        return product(self.extents)


def row_major(shape: Shape) -> tuple[Extent, ...]:
    """Strides in elements of a dense row-major tensor."""
    strides: list[Extent] = []
    step: Extent = 1
    for extent in reversed(shape):
        strides.append(step)
        step = step * extent
    return tuple(reversed(strides))


def broadcast_strides(shape: Shape, target: Shape) -> tuple[Extent, ...]:
    """Strides that walk a dense tensor of ``shape`` over ``target``, repeating its axes of extent 1."""
    missing = len(target) - len(shape)
    strides = [0 if extent == 1 else stride for extent, stride in zip(shape, row_major(shape), strict=True)]
    return (0,) * missing + tuple(strides)


def broadcast_nest(inputs: Sequence[Shape], output: Shape) -> Nest:
    """The nest of an element-wise operation (numpy broadcasting) that writes a dense output."""
    reads = [Access(broadcast_strides(shape, output)) for shape in inputs]
    return Nest(output, (*reads, Access(row_major(output))))


def collapse(nest: Nest) -> Nest:
    """The same points in the same order with fewer axes: extents of 1 dropped, jointly contiguous axes merged."""
    axes = [axis for axis, extent in enumerate(nest.extents) if extent != 1]
    extents: list[Extent] = []
    columns: list[list[Extent]] = []  # of each kept axis: the stride of every operand
    for axis in axes:
        extent, column = nest.extents[axis], [access.strides[axis] for access in nest.accesses]
        merged = bool(columns) and all(
            outer == inner * extent for outer, inner in zip(columns[-1], column, strict=True)
        )
        if merged:
            extents[-1], columns[-1] = extents[-1] * extent, column
        else:
            extents.append(extent)
            columns.append(column)
    if not extents:
        extents, columns = [1], [[0 if access is not nest.output else 1 for access in nest.accesses]]
    kept = zip(*columns, strict=True)  # of each operand: the strides of the kept axes
    return Nest(tuple(extents), tuple(Access(strides) for strides in kept))


def reorder(nest: Nest, order: Sequence[int]) -> Nest:
    """The same points with the axes in another order."""
    accesses = tuple(Access(tuple(access.strides[axis] for axis in order)) for access in nest.accesses)
    return Nest(tuple(nest.extents[axis] for axis in order), accesses)
