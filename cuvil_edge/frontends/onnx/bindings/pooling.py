"""Pools over windows and over whole axes."""

from __future__ import annotations

from math import prod

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode
from cuvil_edge.frontends.onnx.windows import read_window
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops.abs import Abs
from cuvil_edge.ops.average_pool import AveragePool
from cuvil_edge.ops.global_average_pool import GlobalAveragePool
from cuvil_edge.ops.global_lp_pool import GlobalLpPool
from cuvil_edge.ops.global_max_pool import GlobalMaxPool
from cuvil_edge.ops.max_pool import MaxPool
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.pow import Pow


def _kernel(node: OnnxNode) -> tuple[int, ...]:
    kernel: tuple[int, ...] | None = node.attributes.integers("kernel_shape", None)
    if not kernel or any(size < 1 for size in kernel):
        raise ModelError("attribute kernel_shape is missing or not valid", found=str(kernel))
    return kernel


@binds("MaxPool")
def max_pool(node: OnnxNode) -> Value:
    """Without the indices that may be a second output."""
    if any(node.output_used[1:]):
        raise UnsupportedError("the indices of the maxima (output 1) are not supported")
    kernel = _kernel(node)
    window = read_window(node, node.input(0), kernel)
    node.attributes.ignore("storage_order")
    ceil_mode = node.attributes.flag("ceil_mode")
    return node.add(MaxPool(kernel, window.strides, window.pads, window.dilations, ceil_mode), node.input(0))


@binds("AveragePool")
def average_pool(node: OnnxNode) -> Value:
    """Padding counts only where the model says so."""
    kernel = _kernel(node)
    window = read_window(node, node.input(0), kernel)
    ceil_mode, include = node.attributes.flag("ceil_mode"), node.attributes.flag("count_include_pad")
    op = AveragePool(kernel, window.strides, window.pads, window.dilations, ceil_mode, count_include_pad=include)
    return node.add(op, node.input(0))


@binds("GlobalAveragePool")
def global_average_pool(node: OnnxNode) -> Value:
    """The mean over all spatial axes."""
    return node.add(GlobalAveragePool(), node.input(0))


@binds("GlobalMaxPool")
def global_max_pool(node: OnnxNode) -> Value:
    """The maximum over all spatial axes."""
    return node.add(GlobalMaxPool(), node.input(0))


@binds("GlobalLpPool", since=2)
def global_lp_pool(node: OnnxNode) -> Value:
    """The p-norm over all spatial axes."""
    return node.add(GlobalLpPool(node.attributes.integer("p", 2)), node.input(0))


@binds("LpPool", since=2)
def lp_pool(node: OnnxNode) -> Value:
    """The p-norm of each window: the mean of powers, padding as zeros, times the number of elements of the kernel."""
    x, p = node.input(0), node.attributes.integer("p", 2)
    kernel = _kernel(node)
    window = read_window(node, x, kernel)
    if node.attributes.flag("ceil_mode"):
        raise UnsupportedError("ceil_mode of LpPool is not supported")
    powers = node.add(Pow(), node.add(Abs(), x), node.array(p, x))
    pool = AveragePool(kernel, window.strides, window.pads, window.dilations, count_include_pad=True)
    total = node.add(Mul(), node.add(pool, powers), node.array(prod(kernel), x))
    return node.add(Pow(), total, node.array(1 / p, x))
