"""Calls of the convolution kernel: the fields of ``Problem`` in ``csrc/kernels/conv/conv.h``, in its order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from math import prod
from typing import TypeVar

import numpy as np

from cuvil_edge.ir.dim import Extent, ceildiv, maximum, minimum, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Node, Value
from cuvil_edge.kernels.epilogue import add_bias, make_epilogue, refuse_epilogue
from cuvil_edge.kernels.kernel import KERNEL_NAME, NOTHING, Kernel, KernelCall, Operand
from cuvil_edge.kernels.panels import pack_matrices, pad_vector
from cuvil_edge.kernels.product_schedule import Tile, choose_blocks, choose_tile, rows_collide
from cuvil_edge.ops.conv import Conv
from cuvil_edge.ops.conv_transpose import ConvTranspose
from cuvil_edge.target.target import Target

E = TypeVar("E")

TAPS, RUNS, COPY = 0, 1, 2
_MANY_PANELS = 4
"""Copying rows pays if each is read at least so often."""

_SOURCE = """\
#include "kernels/conv/conv.h"
namespace {{
{epilogue}
using Tiling = cuvil::kernels::matmul::Tiling<{rows}, {vectors}, {bias}>;
}}  // namespace
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return cuvil::kernels::conv::run<Tiling, Epilogue, {packed}>(operands, extents, scratch, begin, end);
}}
"""


@dataclass(frozen=True)
class Window:
    """Geometry of a convolution with two spatial axes; ``height`` and ``width`` of input and output."""

    in_extents: tuple[Extent, Extent]
    out_extents: tuple[Extent, Extent]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads_begin: tuple[Extent, Extent]


@dataclass(frozen=True)
class Spread:
    """Where results go in a larger image: pixel (h, w) to (h * step + first) of an image of ``extents``."""

    steps: tuple[int, int]
    first: tuple[int, int]
    extents: tuple[Extent, Extent]


@dataclass(frozen=True)
class _Problem:
    """The kernel's extents, in order."""

    images: Extent
    in_height: Extent
    in_width: Extent
    in_channels: int
    in_stride: int
    out_height: Extent
    out_width: Extent
    out_channels: int
    out_stride: int
    groups: int
    kernel_h: int
    kernel_w: int
    stride_h: int
    stride_w: int
    dilation_h: int
    dilation_w: int
    pad_top: Extent
    pad_left: Extent
    access: int
    block_rows: Extent
    block_panels: int
    spread_h: int
    spread_w: int
    first_h: int
    first_w: int
    image_height: Extent
    image_width: Extent
    weight_group_stride: int
    weight_row_stride: int
    weight_column_stride: int
    weight_channel_stride: int
    weight_filter_stride: int


@dataclass(frozen=True)
class Filters:
    """The weights of a call.

    Attributes:
        value: the node's weights.
        view: they (or a part of them) with axes [group, kh, kw, input channels, filters]. Weights that are computed
            while running have no content yet: their view only says, by its strides, where the kernel finds them.
        offset_bytes: where the view begins in the value.
    """

    value: Value
    view: np.ndarray
    offset_bytes: int

    @staticmethod
    def of(value: Value, arrange: Callable[[np.ndarray], np.ndarray]) -> Filters:
        """Weights as ``arrange`` turns and cuts them, by basic indexing and transposition only."""
        shape = tuple(extent for extent in value.type.shape if isinstance(extent, int))
        whole = np.empty(shape, np.float32) if value.constant is None else np.ascontiguousarray(value.constant)
        view = arrange(whole)
        offset = view.__array_interface__["data"][0] - whole.__array_interface__["data"][0] if view.size else 0
        return Filters(value, view, offset)

    @property
    def is_constant(self) -> bool:
        """True if the compiler packs them."""
        return self.value.constant is not None

    def operand(self, panel_columns: int, lanes: int) -> Operand:
        """The packed weights, or where they will be."""
        if not self.is_constant:
            return Operand(self.value, offset_bytes=self.offset_bytes)
        groups, *window, columns = self.view.shape
        return Operand(packed=pack_matrices(self.view.reshape(groups, prod(window), columns), panel_columns, lanes))

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements between neighbours along each axis of the view; of no interest where they are packed."""
        return (0,) * 5 if self.is_constant else tuple(stride // 4 for stride in self.view.strides)


def refuse_conv(node: Node) -> str | None:
    """Why the convolution kernels cannot compute a node: they need f32, weights of fixed shape, channels last."""
    op, x = _convolution(node), node.operand(0)
    if x.type.dtype is not DType.F32:
        return f"the element type is {x.type.dtype.value}, not f32"
    if not node.operand(1).type.is_static:
        return "the shape of the weights depends on a symbol"
    if x.type.rank not in (3, 4):
        return f"there are {x.type.rank - 2} spatial axes, not one or two"
    if not op.channels_last:
        return "channels are not last"
    return refuse_epilogue(op.epilogue)


def _convolution(node: Node) -> Conv | ConvTranspose:
    assert isinstance(node.op, Conv | ConvTranspose)
    return node.op


def two_axes(values: Sequence[E], fill: E) -> tuple[E, E]:
    """A pair for height and width; a single spatial axis is the width of an image of height 1."""
    return (fill, values[0]) if len(values) == 1 else (values[0], values[1])


def kernel_first(weights: np.ndarray, group: int) -> np.ndarray:
    """Weights [M, C / group, k...] as [group, kh, kw, C / group, M / group]."""
    filters, depth, *kernel = weights.shape
    kh, kw = two_axes(kernel, 1)
    return weights.reshape(group, filters // group, depth, kh, kw).transpose(0, 3, 4, 2, 1)


def conv_call(node: Node, window: Window, weights: Filters, target: Target, spread: Spread | None = None) -> KernelCall:
    """One call."""
    groups, kernel_h, kernel_w, depth, filters = weights.view.shape
    x, y, bias = node.operand(0), node.output, node.optional(2)
    lanes = target.instruction_set.f32_lanes
    tile = choose_tile(target, 4 * groups * depth * window.strides[1], filters, kernel_h * kernel_w * depth)
    pixels = x.type.shape[0] * product(window.out_extents)
    blocks = choose_blocks(
        pixels,
        kernel_h * kernel_w * depth,
        filters,
        tile,
        target,
        row_bytes=4 * depth * window.strides[0] * window.strides[1],
        pointers=kernel_h * kernel_w,
    )
    access = _access(window, depth, filters, groups, tile, target)
    problem = _Problem(
        x.type.shape[0], *window.in_extents, depth, groups * depth, *window.out_extents, filters, groups * filters,
        groups, kernel_h, kernel_w, *window.strides, *window.dilations, *window.pads_begin, access, blocks.rows,
        blocks.panels, *(spread.steps if spread else (0, 0)), *(spread.first if spread else (0, 0)),
        *(spread.extents if spread else (0, 0)), *weights.strides,
    )  # fmt: skip
    tree, values = _convolution(node).epilogue, [value for value in node.inputs[3:] if value is not None]
    if bias is not None and bias.constant is None:
        tree, values = add_bias(tree, bias, values)
    constant_bias = None if bias is None else bias.constant
    epilogue = make_epilogue(tree, values, y.type.shape)
    source = _SOURCE.format(
        name=KERNEL_NAME,
        epilogue=epilogue.source,
        rows=tile.rows,
        vectors=tile.vectors,
        bias=str(constant_bias is not None).lower(),
        packed=str(weights.is_constant).lower(),
    )
    arguments = (
        Operand(x),
        weights.operand(tile.vectors * lanes, lanes),
        _bias_operand(constant_bias, groups, lanes),
        Operand(y),
        *epilogue.operands,
    )
    extents = tuple(getattr(problem, field.name) for field in fields(problem))
    panel_bytes = 0 if weights.is_constant else -(-kernel_h * kernel_w * depth * tile.vectors * lanes // 16) * 64
    return KernelCall(
        Kernel.create(node.op.name, source),
        arguments,
        (*extents, *epilogue.extents),
        blocks.items * groups,
        panel_bytes + _scratch_bytes(problem, tile),
        f"tile {tile.rows}x{tile.vectors * lanes}, {blocks.rows} pixels x {blocks.panels} panels an item",
    )


def _access(window: Window, depth: int, filters: int, groups: int, tile: Tile, target: Target) -> int:
    if window.kernel == (1, 1):
        reads = -(-filters // (tile.vectors * target.instruction_set.f32_lanes))
        collide = rows_collide(4 * depth * groups * window.strides[1], tile, target)
        return COPY if collide and reads >= _MANY_PANELS else TAPS
    runs = groups == 1 and window.dilations[1] == 1 and window.kernel[1] > 1
    return RUNS if runs else TAPS


def _bias_operand(bias: np.ndarray | None, groups: int, lanes: int) -> Operand:
    if bias is None:
        return NOTHING
    return Operand(packed=np.concatenate([pad_vector(part, lanes) for part in bias.reshape(groups, -1)]))


def _pixels_at_sides(problem: _Problem) -> Extent:
    """At most so many pixels of a block have windows that reach over the left or right side of their image."""
    width = maximum(problem.out_width, 1)
    left = maximum(0, ceildiv(problem.pad_left, problem.stride_w))
    last_inside = (problem.in_width + problem.pad_left - problem.kernel_w) // problem.stride_w
    right = maximum(0, problem.out_width - 1 - last_inside)
    rows = problem.block_rows // width + 2
    return minimum(problem.block_rows, rows * minimum(width, left + right))


def _scratch_bytes(problem: _Problem, tile: Tile) -> Extent:
    """Pointers, a row of zeros, places of spread results, copied rows: as laid out by ``Windows``."""

    def aligned(size: Extent) -> Extent:
        return (size + 63) // 64 * 64

    runs = problem.access == RUNS
    taps = problem.kernel_h * (1 if runs else problem.kernel_w)
    run = problem.in_channels * (problem.kernel_w if runs else 1)
    tiles = (problem.block_rows + tile.rows - 1) // tile.rows
    size = aligned(tiles * tile.rows * taps * 8) + aligned(run * 4)
    if problem.spread_h:
        size = size + aligned(problem.block_rows * 8)
    if problem.access != TAPS:
        copies = problem.kernel_h * _pixels_at_sides(problem) if runs else problem.block_rows
        size = size + copies * ((run + 15) // 16 * 16 + 16) * 4
    return maximum(size, 64)
