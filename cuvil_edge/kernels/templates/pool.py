"""pool: maxima and means of sliding windows (``csrc/kernels/pool/pool.h``)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from cuvil_edge.ir.dim import Extent, ceildiv, floordiv, maximum, product
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.loop_call import ITEM_ELEMENTS
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops._pool import Pool
from cuvil_edge.ops._window import split_layout
from cuvil_edge.target.target import Target

_SPATIAL_AXES = 3

_SOURCE = """#include "kernels/pool/pool.h"
namespace pool = cuvil::kernels::pool;
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return pool::run<{type}, pool::Window{{{{{kernel}}}, {{{strides}}}, {{{dilations}}}, pool::Mode::{mode}}}>(
      operands, extents, scratch, begin, end);
}}
"""


class PoolLoops(KernelTemplate):
    """Operands: the input, the output. Vectors run over channels, so they should be the last axis."""

    ops = ("max_pool", "average_pool")

    def refuse(self, node: Node, target: Target) -> str | None:
        """Up to three spatial axes, one output."""
        x = node.inputs[0]
        assert x is not None
        if x.type.rank - 2 > _SPATIAL_AXES:
            return f"{x.type.rank - 2} spatial axes, at most {_SPATIAL_AXES} have kernels"
        return "the indices of the maxima are not computed" if len(node.outputs) > 1 else None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call; missing spatial axes have the extent 1."""
        op, x, y = node.op, node.inputs[0], node.output
        assert isinstance(op, Pool)
        assert x is not None
        batch, channels, spatial = split_layout(x.type.shape, op.channels_last)
        out = split_layout(y.type.shape, op.channels_last)[2]
        if not op.channels_last:
            batch, channels = batch * channels, 1
        rank = len(spatial)
        windowed = [axis for axis in range(rank) if not _is_trivial(op, axis)]
        kept = (windowed[-1] if windowed else 0) + 1  # behind it are whole axes that behave like channels
        channels = channels * product(spatial[kept:])
        mode = "kMax"
        if op.name == "average_pool":
            mode = "kAverageWithPads" if getattr(op, "count_include_pad", False) else "kAverage"
        source = _SOURCE.format(
            name=KERNEL_NAME,
            type=ELEMENT_TYPES[x.type.dtype],
            kernel=", ".join(map(str, _three(op.kernel[:kept], 1))),
            strides=", ".join(map(str, _three(op.strides[:kept], 1))),
            dilations=", ".join(map(str, _three(op.dilations[:kept], 1))),
            mode=mode,
        )
        row_elements = out[kept - 1] * channels * prod(op.kernel)
        rows_per_item = maximum(1, floordiv(ITEM_ELEMENTS, maximum(row_elements, 1)))
        out_three = _three(out[:kept], 1)
        pads = (*_three(op.pads[:kept], 0), *_three(op.pads[rank : rank + kept], 0))
        extents = (batch, channels, *_three(spatial[:kept], 1), *out_three, *pads, rows_per_item)
        items = ceildiv(batch * out_three[0] * out_three[1], rows_per_item)
        return [KernelCall(Kernel.create(op.name, source), (Operand(x), Operand(y)), extents, items)]


def _is_trivial(op: Pool, axis: int) -> bool:
    """True if windows on the axis are its elements themselves."""
    pads = (op.pads[axis], op.pads[len(op.kernel) + axis])
    return op.kernel[axis] == 1 and op.strides[axis] == 1 and pads == (0, 0)


def _three(entries: Sequence[Extent], missing: int) -> tuple[Extent, ...]:
    return (missing,) * (_SPATIAL_AXES - len(entries)) + tuple(entries)
