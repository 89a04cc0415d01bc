"""resize: resampling of axes (``csrc/kernels/resize/resize.h``)."""

from __future__ import annotations

from cuvil_edge.ir.dim import Extent, ceildiv, floordiv, maximum, product
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.loop_call import ITEM_ELEMENTS, copy_call
from cuvil_edge.kernels.nest import broadcast_nest
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.resize import Resize
from cuvil_edge.target.target import Target

_MAX_TAPS = 64
_TAP_BYTES = 16
_TAPS = {"nearest": 1, "linear": 2, "cubic": 4}

_SOURCE = """#include "kernels/resize/resize.h"
namespace resize = cuvil::kernels::resize;
namespace {{
constexpr resize::Config<{count}> kConfig{{
    resize::Mode::{mode}, resize::Coordinates::{coordinates}, resize::Rounding::{rounding},
    {cubic}, {exclude}, {extrapolation}, {{{axes}}}}};
}}  // namespace
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return resize::run<{type}, {count}, kConfig>(operands, extents, scratch, begin, end);
}}
"""


class ResizeLoops(KernelTemplate):
    """Operands: the input, the output. Vectors run over the axes behind the last resampled one, such as channels."""

    ops = ("resize",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """No antialiasing, and at most ``_MAX_TAPS`` source elements for one of the output."""
        op, resampled = _op(node), len(_resampled_axes(node))
        if op.antialias and resampled:
            return "antialiased resizing has no kernel"
        if _TAPS[op.mode] ** resampled > _MAX_TAPS:
            return f"{resampled} axes are resampled with {_TAPS[op.mode]} elements each, at most {_MAX_TAPS} in all"
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call; a copy where every axis keeps its extent."""
        op, x, y = _op(node), node.inputs[0], node.output
        assert x is not None
        resampled = _resampled_axes(node)
        if not resampled:
            shape = (x.type.elements,)
            return [copy_call("resize", broadcast_nest([shape], shape), x.type.dtype, Operand(x), Operand(y))]
        axes = _merged_axes(x.type.rank, resampled)
        inner = product(x.type.shape[resampled[-1] + 1 :])
        targets = [product(tuple(op.shape[axis] for axis in group)) for group in axes]
        sources = [product(tuple(x.type.shape[axis] for axis in group)) for group in axes]
        source = _SOURCE.format(
            name=KERNEL_NAME,
            count=len(axes),
            type=ELEMENT_TYPES[x.type.dtype],
            mode=_constant(op.mode),
            coordinates=_constant(op.coordinates),
            rounding=_constant(op.rounding),
            cubic=repr(float(op.cubic_coefficient)),
            exclude=str(op.exclude_outside).lower(),
            extrapolation=repr(float(op.extrapolation)),
            axes=", ".join(_axis_text(op, group, resampled) for group in axes),
        )
        rows = product(tuple(targets[:-1]))
        work = maximum(targets[-1] * inner * _TAPS[op.mode] ** len(resampled), 1)
        rows_per_item = maximum(1, floordiv(ITEM_ELEMENTS, work))
        taps: Extent = 0
        for axis in resampled:
            taps = taps + op.shape[axis] * _TAPS[op.mode]
        kernel = Kernel.create("resize", source)
        extents = (*targets, *sources, inner, rows_per_item)
        items = ceildiv(rows, rows_per_item)
        return [KernelCall(kernel, (Operand(x), Operand(y)), extents, items, taps * _TAP_BYTES)]


def _op(node: Node) -> Resize:
    assert isinstance(node.op, Resize)
    return node.op


def _resampled_axes(node: Node) -> list[int]:
    x = node.inputs[0]
    assert x is not None
    return [axis for axis, extent in enumerate(x.type.shape) if not _op(node).is_copied(axis, extent)]


def _merged_axes(rank: int, resampled: list[int]) -> list[list[int]]:
    """The axes up to the last resampled one; neighbours that are only copied are one."""
    groups: list[list[int]] = []
    for axis in range(resampled[-1] + 1):
        if groups and axis not in resampled and groups[-1][0] not in resampled:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups


def _axis_text(op: Resize, group: list[int], resampled: list[int]) -> str:
    axis = group[0]
    if axis not in resampled:
        return "{false, 0, 0, 1}"
    start, end = (op.roi[axis], op.roi[len(op.shape) + axis]) if op.roi else (0.0, 1.0)
    return f"{{true, {float(op.scales[axis] or 0)!r}, {float(start)!r}, {float(end)!r}}}"


def _constant(word: str) -> str:
    return "k" + "".join(part.capitalize() for part in word.split("_"))
