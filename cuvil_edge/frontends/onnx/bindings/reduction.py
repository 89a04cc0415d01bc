"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode, normal_axes, normal_axis
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops._reduce import Reduce
from cuvil_edge.ops.arg_max import ArgMax
from cuvil_edge.ops.arg_min import ArgMin
from cuvil_edge.ops.identity import Identity
from cuvil_edge.ops.reduce_l1 import ReduceL1
from cuvil_edge.ops.reduce_l2 import ReduceL2
from cuvil_edge.ops.reduce_log_sum import ReduceLogSum
from cuvil_edge.ops.reduce_log_sum_exp import ReduceLogSumExp
from cuvil_edge.ops.reduce_max import ReduceMax
from cuvil_edge.ops.reduce_mean import ReduceMean
from cuvil_edge.ops.reduce_min import ReduceMin
from cuvil_edge.ops.reduce_prod import ReduceProd
from cuvil_edge.ops.reduce_sum import ReduceSum
from cuvil_edge.ops.reduce_sum_square import ReduceSumSquare

_REDUCTIONS: dict[str, type[Reduce]] = {
    "ReduceL1": ReduceL1,
    "ReduceL2": ReduceL2,
    "ReduceLogSum": ReduceLogSum,
    "ReduceLogSumExp": ReduceLogSumExp,
    "ReduceMax": ReduceMax,
    "ReduceMean": ReduceMean,
    "ReduceMin": ReduceMin,
    "ReduceProd": ReduceProd,
    "ReduceSum": ReduceSum,
    "ReduceSumSquare": ReduceSumSquare,
}


def _reduce(node: OnnxNode, reduction: type[Reduce], by_input_since: int) -> Value:
    """Axes are an attribute, and from some opset on an input; without axes all are reduced, or none if so wanted."""
    x, read = node.input(0), node.attributes
    keepdims, none_if_empty = read.flag("keepdims", True), False
    axes: Sequence[int] | None
    if node.version >= by_input_since:
        axes = None if node.optional(1) is None else node.integers(1, "the axes")
        none_if_empty = read.flag("noop_with_empty_axes")
    else:
        axes = read.integers("axes", None)
    if not axes:
        if none_if_empty:
            return _reduce_none(node, reduction, x)
        axes = range(x.type.rank)
    return node.add(reduction(tuple(sorted(normal_axes(axes, x.type.rank))), keepdims), x)


def _reduce_none(node: OnnxNode, reduction: type[Reduce], x: Value) -> Value:
    """Each element alone: the identity, or what the operation does to single elements."""
    if reduction in (ReduceMax, ReduceMin, ReduceMean, ReduceProd, ReduceSum):
        return node.add(Identity(), x)
    return node.add(reduction(()), x)


for _op_type, _reduction in _REDUCTIONS.items():
    _since = 13 if _op_type == "ReduceSum" else 18
    binds(_op_type)(partial(_reduce, reduction=_reduction, by_input_since=_since))


@binds("ArgMax", "ArgMin")
def arg(node: OnnxNode) -> Value:
    """Where the extreme is."""
    x, read = node.input(0), node.attributes
    op = ArgMax if node.op_type == "ArgMax" else ArgMin
    axis = normal_axis(read.integer("axis", 0), x.type.rank)
    return node.add(op(axis, read.flag("keepdims", True), read.flag("select_last_index")), x)
