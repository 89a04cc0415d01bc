"""Operators that join, cut and pick."""

from __future__ import annotations

from collections.abc import Sequence

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode, normal_axes, normal_axis
from cuvil_edge.ir.dim import Extent, ceildiv, floordiv
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops.concat import Concat
from cuvil_edge.ops.depth_to_space import DepthToSpace
from cuvil_edge.ops.gather import Gather
from cuvil_edge.ops.gather_elements import GatherElements
from cuvil_edge.ops.gather_nd import GatherNd
from cuvil_edge.ops.pad import MODES, Pad
from cuvil_edge.ops.slice import Slice, normal_limits
from cuvil_edge.ops.space_to_depth import SpaceToDepth
from cuvil_edge.ops.split import Split


@binds("Concat")
def concat(node: OnnxNode) -> Value:
    """Along one axis."""
    axis = node.attributes.integer("axis")
    if axis is None:
        raise ModelError("attribute axis is missing")
    values = node.inputs()
    return node.add(Concat(normal_axis(axis, values[0].type.rank)), *values)


@binds("Split")
def split(node: OnnxNode) -> list[Value]:
    """Into given parts, or into as many equal ones as there are outputs, the last one smaller if need be."""
    x = node.input(0)
    axis = normal_axis(node.attributes.integer("axis", 0), x.type.rank)
    count = node.attributes.integer("num_outputs", len(node.output_used))
    if node.version < 13:
        sizes = node.attributes.integers("split", None)
    else:
        sizes = None if node.optional(1) is None else tuple(node.extents(1, "the parts"))
    if sizes is None:
        sizes = _equal_parts(x.type.shape[axis], count, node.version >= 18)
    if len(sizes) != len(node.output_used):
        raise ModelError(
            "as many outputs as parts are needed", expected=str(len(sizes)), found=str(len(node.output_used))
        )
    return node.add_all(Split(axis, tuple(sizes)), [x])


def _equal_parts(extent: Extent, count: int, may_be_uneven: bool) -> tuple[Extent, ...]:
    if count < 1:
        raise ModelError("there are no outputs")
    if not may_be_uneven:
        return (floordiv(extent, count),) * count
    part = ceildiv(extent, count)
    return (*(part,) * (count - 1), extent - part * (count - 1))


@binds("Slice")
def slice_by_attributes(node: OnnxNode) -> Value:
    """Limits are attributes; there are no steps."""
    starts, ends = node.attributes.integers("starts", ()), node.attributes.integers("ends", ())
    axes = node.attributes.integers("axes", range(len(starts)))
    return _slice(node, node.input(0), starts, ends, axes, (1,) * len(starts))


@binds("Slice", since=10)
def slice_(node: OnnxNode) -> Value:
    """Limits that are constant or computed from shapes."""
    starts, ends = node.extents(1, "the starts"), node.extents(2, "the ends")
    axes = range(len(starts)) if node.optional(3) is None else node.integers(3, "the axes")
    steps = (1,) * len(starts) if node.optional(4) is None else node.integers(4, "the steps")
    return _slice(node, node.input(0), starts, ends, axes, steps)


def _slice(
    node: OnnxNode,
    x: Value,
    starts: Sequence[Extent],
    ends: Sequence[Extent],
    axes: Sequence[int],
    steps: Sequence[int],
) -> Value:
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise ModelError("starts, ends, axes and steps differ in length")
    if 0 in steps:
        raise ModelError("a step is 0")
    axes = normal_axes(axes, x.type.rank)
    limits = []
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        try:
            limits.append(normal_limits(x.type.shape[axis], start, end, step))
        except TypeError:
            found = f"{start} to {end} of axis {axis}"
            raise UnsupportedError("whether a limit counts from the end depends on symbols", found=found) from None
    return node.add(Slice(tuple(a for a, _ in limits), tuple(b for _, b in limits), axes, tuple(steps)), x)


@binds("Pad")
def pad_by_attributes(node: OnnxNode) -> Value:
    """Pads and value are attributes."""
    return _pad(node, node.attributes.integers("pads", ()), node.attributes.real("value", 0.0))


@binds("Pad", since=11)
def pad(node: OnnxNode) -> Value:
    """Pads that are constant or computed from shapes, for all axes or some."""
    x = node.input(0)
    pads, rank = node.extents(1, "the pads"), x.type.rank
    value = 0 if node.optional(2) is None else node.scalar(2, "the value")
    if node.optional(3) is not None:
        axes = normal_axes(node.integers(3, "the axes"), rank)
        if len(pads) != 2 * len(axes):
            raise ModelError("pads do not fit the axes", expected=str(2 * len(axes)), found=str(len(pads)))
        given, pads = pads, [0] * (2 * rank)
        for position, axis in enumerate(axes):
            pads[axis], pads[rank + axis] = given[position], given[len(axes) + position]
    return _pad(node, pads, value)


def _pad(node: OnnxNode, pads: Sequence[Extent], value: float) -> Value:
    """Negative pads cut first."""
    x, mode = node.input(0), node.attributes.choice("mode", "constant", MODES)
    rank = x.type.rank
    if len(pads) != 2 * rank:
        raise ModelError("pads do not fit the data", expected=f"{2 * rank} numbers", found=str(list(pads)))
    cut = [isinstance(extent, int) and extent < 0 for extent in pads]
    axes = [axis for axis in range(rank) if cut[axis] or cut[rank + axis]]
    if axes:
        starts = [-pads[axis] if cut[axis] else 0 for axis in axes]
        ends = [x.type.shape[axis] + (pads[rank + axis] if cut[rank + axis] else 0) for axis in axes]
        x = _slice(node, x, starts, ends, axes, (1,) * len(axes))
    if not x.type.dtype.is_float:
        value = bool(value) if x.type.dtype.value == "bool" else int(value)
    return node.add(Pad(tuple(0 if is_cut else n for n, is_cut in zip(pads, cut, strict=True)), mode, value), x)


@binds("Gather")
def gather(node: OnnxNode) -> Value:
    """On one axis."""
    x = node.input(0)
    if x.type.rank == 0:
        raise ModelError("a scalar has no axis to gather from")
    return node.add(Gather(normal_axis(node.attributes.integer("axis", 0), x.type.rank)), x, node.input(1))


@binds("GatherElements", since=11)
def gather_elements(node: OnnxNode) -> Value:
    """Single elements."""
    x = node.input(0)
    return node.add(GatherElements(normal_axis(node.attributes.integer("axis", 0), x.type.rank)), x, node.input(1))


@binds("GatherND", since=11)
def gather_nd(node: OnnxNode) -> Value:
    """By vectors of indices."""
    return node.add(GatherNd(node.attributes.integer("batch_dims", 0)), node.input(0), node.input(1))


@binds("DepthToSpace")
def depth_to_space(node: OnnxNode) -> Value:
    """Channels to pixels."""
    mode = node.attributes.choice("mode", "DCR", ("DCR", "CRD"))
    return node.add(DepthToSpace(node.attributes.integer("blocksize", 0), mode), node.input(0))


@binds("SpaceToDepth")
def space_to_depth(node: OnnxNode) -> Value:
    """Pixels to channels."""
    mode = node.attributes.choice("mode", "DCR", ("DCR", "CRD"))
    return node.add(SpaceToDepth(node.attributes.integer("blocksize", 0), mode), node.input(0))
