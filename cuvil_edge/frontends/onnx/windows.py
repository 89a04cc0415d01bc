"""Strides, dilations and pads of convolutions and pools, with automatic padding resolved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuvil_edge.errors import ModelError
from cuvil_edge.frontends.onnx.node import OnnxNode
from cuvil_edge.ir.dim import Extent, ceildiv, floordiv, maximum
from cuvil_edge.ir.graph import Value

_AUTO = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


@dataclass(frozen=True)
class Window:
    """How a kernel moves over the spatial axes."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[Extent, ...]
    """Before each axis, then after each."""


def read_window(node: OnnxNode, x: Value, kernel: Sequence[int], *, resolve_auto: bool = True) -> Window:
    """The window attributes of ``node`` for data ``x`` [N, C, *spatial].

    With SAME_UPPER and SAME_LOWER the output extent is ``ceil(input / stride)`` and the odd pad is at the end or the
    beginning; ``resolve_auto`` False leaves their pads 0.
    """
    rank = len(kernel)
    if x.type.rank != rank + 2:
        raise ModelError("the data has a wrong number of axes", expected=f"{rank + 2}", found=str(x.type))
    strides = node.attributes.integers("strides", (1,) * rank)
    dilations = node.attributes.integers("dilations", (1,) * rank)
    pads = node.attributes.integers("pads", (0,) * (2 * rank))
    for name, entries, count in (("strides", strides, rank), ("dilations", dilations, rank), ("pads", pads, 2 * rank)):
        if len(entries) != count or any(entry < (name != "pads") for entry in entries):
            raise ModelError(f"attribute {name} is not valid", expected=f"{count} positive numbers", found=str(entries))
    auto = node.attributes.choice("auto_pad", "NOTSET", _AUTO)
    if auto == "NOTSET":
        return Window(strides, dilations, pads)
    if auto == "VALID" or not resolve_auto:
        return Window(strides, dilations, (0,) * (2 * rank))
    begins: list[Extent] = []
    ends: list[Extent] = []
    for extent, size, stride, dilation in zip(x.type.shape[2:], kernel, strides, dilations, strict=True):
        reach = (ceildiv(extent, stride) - 1) * stride + dilation * (size - 1) + 1
        total = maximum(reach - extent, 0)
        half = floordiv(total, 2)
        begins.append(half if auto == "SAME_UPPER" else total - half)
        ends.append(total - half if auto == "SAME_UPPER" else half)
    return Window(strides, dilations, (*begins, *ends))
