"""pad: a border around a tensor (``csrc/kernels/pad/pad.h``)."""

from __future__ import annotations

import numpy as np

from cuvil_edge.ir.dim import Extent, ceildiv, floordiv, maximum, product
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.kernel import KERNEL_NAME, Kernel, KernelCall, Operand
from cuvil_edge.kernels.loop_call import COPY_TYPES, ITEM_ELEMENTS
from cuvil_edge.kernels.nest import row_major
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.pad import Pad
from cuvil_edge.target.target import Target

_SOURCE = """#include "kernels/pad/pad.h"
namespace pad = cuvil::kernels::pad;
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  return pad::run<{type}, pad::Mode::{mode}, {rank}>(operands, extents, scratch, begin, end, {value});
}}
"""


class PadCopies(KernelTemplate):
    """Operands: the input, the output."""

    ops = ("pad",)

    def refuse(self, node: Node, target: Target) -> str | None:
        """Never."""
        return None

    def cost(self, node: Node, target: Target) -> float:
        """The only family."""
        return 1.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call; axes without a border are merged."""
        op, x, y = node.op, node.inputs[0], node.output
        assert isinstance(op, Pad)
        assert x is not None
        source_shape, before, after = _merged(op, x.type.shape)
        shape = [b + n + a for b, n, a in zip(before, source_shape, after, strict=True)]
        rows = product(tuple(shape[:-1]))
        rows_per_item = maximum(1, floordiv(ITEM_ELEMENTS, maximum(shape[-1], 1)))
        bits = np.asarray(op.value, x.type.dtype.numpy).tobytes()
        source = _SOURCE.format(
            name=KERNEL_NAME,
            type=COPY_TYPES[x.type.dtype.item_bytes],
            mode=f"k{op.mode.capitalize()}",
            rank=len(shape),
            value=hex(int.from_bytes(bits, "little")),
        )
        extents = (*shape, *source_shape, *before, rows_per_item, *row_major(tuple(source_shape)))
        items = ceildiv(rows, rows_per_item) if shape[-1] != 0 else 0
        return [KernelCall(Kernel.create("pad", source), (Operand(x), Operand(y)), extents, items)]


def _merged(op: Pad, shape: tuple[Extent, ...]) -> tuple[list[Extent], list[Extent], list[Extent]]:
    """Extents and pads with each axis that has no border merged into the axis before it, pads in proportion.

    That keeps rows long. Only a constant border may be merged like this: others repeat whole elements of their axis.
    """
    extents: list[Extent] = []
    before: list[Extent] = []
    after: list[Extent] = []
    for axis, extent in enumerate(shape):
        pads = (op.pads[axis], op.pads[len(shape) + axis])
        bare = pads == (0, 0)
        if extents and bare and (op.mode == "constant" or (before[-1], after[-1]) == (0, 0)):
            for merged in (extents, before, after):
                merged[-1] = merged[-1] * extent
        else:
            extents.append(extent)
            before.append(pads[0])
            after.append(pads[1])
    return extents or [1], before or [0], after or [0]
