"""Operators that change the shape and not the elements."""

from __future__ import annotations

from cuvil_edge.errors import ModelError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode, normal_axis
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops.flatten import Flatten
from cuvil_edge.ops.identity import Identity
from cuvil_edge.ops.reshape import Reshape, resolve_target
from cuvil_edge.ops.transpose import Transpose


@binds("Reshape")
def reshape(node: OnnxNode) -> Value:
    """To a target that is constant or computed from shapes."""
    x = node.input(0)
    target = node.extents(1, "the target shape")
    return node.add(Reshape(resolve_target(x.type.shape, target, node.attributes.flag("allowzero"))), x)


@binds("Flatten")
def flatten(node: OnnxNode) -> Value:
    """Two axes."""
    axis, rank = node.attributes.integer("axis", 1), node.input(0).type.rank
    if not -rank <= axis <= rank:
        raise ModelError("axis is out of range", expected=f"{-rank} to {rank}", found=str(axis))
    return node.add(Flatten(axis + rank if axis < 0 else axis), node.input(0))


@binds("Transpose")
def transpose(node: OnnxNode) -> Value:
    """By default the axes reversed."""
    rank = node.input(0).type.rank
    permutation = node.attributes.integers("perm", reversed(range(rank)))
    return node.add(Transpose(tuple(normal_axis(axis, rank) for axis in permutation)), node.input(0))


@binds("Identity")
def identity(node: OnnxNode) -> Value:
    """The input, under another name."""
    return node.add(Identity(), node.input(0))
