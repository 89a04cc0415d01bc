"""Conv and ConvTranspose: padding rules become explicit pads, which may depend on symbolic extents."""

from __future__ import annotations

from collections.abc import Sequence

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode
from cuvil_edge.frontends.onnx.windows import Window, read_window
from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops.conv import Conv
from cuvil_edge.ops.conv_transpose import ConvTranspose


@binds("Conv")
def conv(node: OnnxNode) -> Value:
    """x, weights and bias; the kernel's shape is that of the weights."""
    x, weights = node.input(0), node.input(1)
    window = read_window(node, x, _kernel_of(node, weights))
    group = node.attributes.integer("group", 1)
    op = Conv(window.strides, window.pads, window.dilations, group)
    return node.add(op, x, weights, node.optional(2))


@binds("ConvTranspose")
def conv_transpose(node: OnnxNode) -> Value:
    """As Conv; ``output_shape`` and automatic padding become pads."""
    x, weights = node.input(0), node.input(1)
    kernel = _kernel_of(node, weights)
    rank = len(kernel)
    output_shape = node.attributes.integers("output_shape", None)
    output_padding = node.attributes.integers("output_padding", (0,) * rank)
    auto_pad = node.attributes.text("auto_pad", "NOTSET")
    window = read_window(node, x, kernel, resolve_auto=False)
    if len(output_padding) != rank or (output_shape is not None and len(output_shape) < rank):
        raise ModelError("output_padding or output_shape does not have one entry for each spatial axis")
    pads = window.pads
    if output_shape is not None or auto_pad.startswith("SAME"):
        extents: Sequence[Extent] = x.type.shape[2:]
        targets = [n * s for n, s in zip(extents, window.strides, strict=True)]
        if output_shape is not None:
            targets = list(output_shape[-rank:])
        pads, output_padding = _fitted_pads(x, kernel, window, output_padding, targets, auto_pad)
    group = node.attributes.integer("group", 1)
    op = ConvTranspose(window.strides, pads, window.dilations, output_padding, group)
    return node.add(op, x, weights, node.optional(2))


def _fitted_pads(
    x: Value,
    kernel: list[int],
    window: Window,
    output_padding: tuple[int, ...],
    targets: Sequence[Extent],
    auto_pad: str,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Pads and output padding that give the extents ``targets``.

    ``total = stride * (input - 1) + output_padding + dilation * (kernel - 1) + 1 - output``; the odd one goes to the
    end for SAME_UPPER, else to the beginning (ONNX specification of ConvTranspose); what is missing is output padding.
    """
    begins, ends, missing = [], [], []
    for axis, (size, stride, dilation) in enumerate(zip(kernel, window.strides, window.dilations, strict=True)):
        extent = x.type.shape[2 + axis]
        total = stride * (extent - 1) + output_padding[axis] + dilation * (size - 1) + 1 - targets[axis]
        if not isinstance(total, int):
            raise UnsupportedError("output_shape needs data of fixed extents", found=str(x.type))
        half = max(total, 0) // 2
        rest = max(total, 0) - half
        begins.append(half if auto_pad == "SAME_UPPER" else rest)
        ends.append(rest if auto_pad == "SAME_UPPER" else half)
        missing.append(output_padding[axis] + max(-total, 0))
    return (*begins, *ends), tuple(missing)


def _kernel_of(node: OnnxNode, weights: Value) -> list[int]:
    kernel = list(weights.type.shape[2:])
    if weights.type.rank < 3 or not all(isinstance(extent, int) for extent in kernel):
        raise ModelError("the weights have no fixed kernel shape", found=str(weights.type))
    stated = node.attributes.integers("kernel_shape", None)
    if stated is not None and list(stated) != kernel:
        raise ModelError("kernel_shape differs from the weights", expected=str(kernel), found=str(list(stated)))
    return [int(extent) for extent in kernel]  # type: ignore[arg-type]
