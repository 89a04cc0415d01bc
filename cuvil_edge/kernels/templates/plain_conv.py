"""plain_conv: convolutions without a vector kernel (``csrc/kernels/conv/plain.h``)."""

from __future__ import annotations

from collections.abc import Sequence

from cuvil_edge.ir.dim import Extent, ceildiv, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.epilogue import make_epilogue, refuse_epilogue
from cuvil_edge.kernels.expression import ELEMENT_TYPES
from cuvil_edge.kernels.kernel import KERNEL_NAME, NOTHING, Kernel, KernelCall, Operand
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.conv import Conv
from cuvil_edge.ops.conv_transpose import ConvTranspose
from cuvil_edge.target.target import Target

_AXES = 3
_VECTOR_AXES = 2
_BLOCK_PIXELS = 4
_SOURCE = """\
#include "kernels/conv/plain.h"
namespace {{
{epilogue}
}}  // namespace
extern "C" cuvil_status {name}(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                               uint32_t end) {{
  using Element = {type};
  return cuvil::kernels::conv::run_plain<Element, {transposed}, {bias}, Epilogue>(operands, extents, scratch, begin,
                                                                                  end);
}}
"""


class PlainConvolution(KernelTemplate):
    """Three spatial axes, and floats other than f32: right, and slow."""

    ops = ("conv", "conv_transpose")

    def refuse(self, node: Node, target: Target) -> str | None:
        """Channels last, up to three axes; f32 over fewer has vector kernels."""
        op, x = node.op, node.operand(0)
        assert isinstance(op, Conv | ConvTranspose)
        axes, dtype = x.type.rank - 2, x.type.dtype
        if axes > _AXES:
            return f"there are {axes} spatial axes, at most {_AXES} have kernels"
        if not op.channels_last:
            return "channels are not last"
        if dtype is DType.F32 and axes <= _VECTOR_AXES:
            return "f32 over one or two axes has vector kernels"
        if op.epilogue is not None and dtype is not DType.F32:
            return f"the epilogue of {dtype.value} results has no kernel"
        return refuse_epilogue(op.epilogue)

    def cost(self, node: Node, target: Target) -> float:
        """More than any vector kernel."""
        return 100.0

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """One call."""
        op, x, weights, y = node.op, node.operand(0), node.operand(1), node.output
        assert isinstance(op, Conv | ConvTranspose)
        transposed, bias = isinstance(op, ConvTranspose), node.optional(2)
        first, second = weights.type.shape[:2]
        channels, filters = (first // op.group, second) if transposed else (second, first // op.group)
        pixels = product(y.type.shape[:-1])
        axes = [
            (x.type.shape[1:-1], 1),
            (y.type.shape[1:-1], 1),
            (weights.type.shape[2:], 1),
            (op.strides, 1),
            (op.dilations, 1),
            (op.pads[: x.type.rank - 2], 0),
        ]
        extents: list[Extent] = [x.type.shape[0], op.group, channels, filters]
        for values, fill in axes:
            extents += _three(values, fill)
        epilogue = make_epilogue(op.epilogue, node.operands[2 + (bias is not None) :], y.type.shape)
        source = _SOURCE.format(
            name=KERNEL_NAME,
            epilogue=epilogue.source,
            type=ELEMENT_TYPES[x.type.dtype],
            transposed=str(transposed).lower(),
            bias=str(bias is not None).lower(),
        )
        operands = (
            Operand(x),
            Operand(weights),
            NOTHING if bias is None else Operand(bias),
            Operand(y),
            *epilogue.operands,
        )
        return [
            KernelCall(
                Kernel.create(node.op.name, source),
                operands,
                (*extents, _BLOCK_PIXELS, *epilogue.extents),
                ceildiv(pixels, _BLOCK_PIXELS),
                notes="no vector kernel",
            )
        ]


def _three(values: Sequence[Extent], fill: int) -> list[Extent]:
    return [*[fill] * (_AXES - len(values)), *values]
