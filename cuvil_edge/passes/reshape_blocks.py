"""When a reshape after a transpose only merges or splits axes that stay neighbours, it can be done before it."""

from __future__ import annotations

from cuvil_edge.ir.dim import Extent, Shape, product

Group = tuple[tuple[int, ...], tuple[int, ...]]
"""Axes of the reshape's input that hold the same elements as these axes of its output."""


def group_axes(before: Shape, after: Shape) -> list[Group] | None:
    """The finest groups of neighbouring axes with equal products, or None where that cannot be proven."""
    groups: list[Group] = []
    i = j = 0
    while i < len(before) or j < len(after):
        left, right = [i] if i < len(before) else [], [j] if j < len(after) else []
        a: Extent = before[i] if left else 1
        b: Extent = after[j] if right else 1
        i, j = i + len(left), j + len(right)
        while a != b:
            grow_left = _smaller(a, b)
            if grow_left is None:
                return None
            if grow_left and i < len(before):
                a, i = a * before[i], i + 1
                left.append(i - 1)
            elif not grow_left and j < len(after):
                b, j = b * after[j], j + 1
                right.append(j - 1)
            else:
                return None
        groups.append((tuple(left), tuple(right)))
    return groups


def _smaller(a: Extent, b: Extent) -> bool | None:
    """True if ``a`` divides ``b`` into something larger, False for the other way round, None if neither is proven."""
    if isinstance(a, int) and isinstance(b, int):
        return a < b
    for small, large, answer in ((a, b, True), (b, a, False)):
        quotient = large // small if small != 0 else 0
        if quotient * small == large:
            return answer
    return None


def blocks_through_reshape(source: Shape, back: tuple[int, ...], target: Shape) -> tuple[Shape, tuple[int, ...]] | None:
    """``reshape(transpose(x, back), target)`` as ``transpose(reshape(x, shape), permutation)``: shape and permutation.

    None if a group of axes that the reshape merges is not a run of neighbours in ``source``.
    """
    transposed = tuple(source[axis] for axis in back)
    groups = group_axes(transposed, target)
    if groups is None:
        return None
    keyed: list[tuple[int, tuple[int, ...]]] = []
    for left, right in groups:
        axes = [back[axis] for axis in left]
        real = [axis for axis in axes if source[axis] != 1]
        if real != sorted(real) or any(source[axis] != 1 and axis not in real for axis in _span(real)):
            return None
        keyed.append((real[0] if real else axes[0] if axes else -1, right))
    order = sorted(range(len(keyed)), key=lambda index: keyed[index][0])
    axes_in_source_order = [axis for index in order for axis in keyed[index][1]]
    if len(axes_in_source_order) != len(target):
        return None
    shape = tuple(target[axis] for axis in axes_in_source_order)
    permutation = tuple(axes_in_source_order.index(axis) for axis in range(len(target)))
    return (shape, permutation) if product(shape) == product(source) else None


def _span(axes: list[int]) -> range:
    return range(axes[0], axes[-1] + 1) if axes else range(0)
