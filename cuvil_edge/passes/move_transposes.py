"""move_transposes: move transposes down through operations that do not mind, until they meet their inverse.

Two rules, applied until nothing changes: a transpose of a transpose is one (or none); an operation whose operands are
transposed alike computes on the untransposed operands, and its result is transposed instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Shape
from cuvil_edge.ir.graph import Graph, Node, Value, merged_layers
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.transpose import Transpose
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes
from cuvil_edge.passes.reshape_blocks import blocks_through_reshape

Permutation = tuple[int, ...]


def inverse(permutation: Permutation) -> Permutation:
    """The permutation that undoes ``permutation``."""
    return tuple(permutation.index(axis) for axis in range(len(permutation)))


class MoveTransposes(Pass):
    """Ends with transposes cancelled, or turned into views where they only move axes of extent 1."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""
        rules = (_merge_transposes, _move_through_reshape, _move_through_operation)
        for _ in range(4 * len(graph.nodes) + 4):
            log.begin_sweep()

            def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
                for rule in rules:
                    if (results := rule(node, builder, log)) is not None:
                        return results
                return None

            if not rewrite_nodes(graph, rewrite):
                break
            graph.remove_dead()
        rewrite_nodes(graph, lambda node, builder: _view_instead(node, builder, log))
        graph.remove_dead()


class _Turned(NamedTuple):
    """A value that is a transpose of another."""

    node: Node
    source: Value
    permutation: Permutation


def _turned(value: Value) -> _Turned | None:
    node = value.producer
    if node is None or not isinstance(node.op, Transpose):
        return None
    return _Turned(node, node.operand(0), node.op.permutation)


def _permutation_of(value: Value) -> Permutation | None:
    turned = _turned(value)
    return turned.permutation if turned is not None else None


def _merge_transposes(node: Node, builder: GraphBuilder, log: PassLog) -> list[Value] | None:
    if not isinstance(node.op, Transpose):
        return None
    outer, inner = node.op.permutation, _turned(node.operand(0))
    if outer == tuple(range(len(outer))):
        return [node.operand(0)]
    if inner is None:
        return None
    log.changed("merged transposes")
    merged = tuple(inner.permutation[axis] for axis in outer)
    if merged == tuple(range(len(merged))):
        return [inner.source]
    builder.layers = merged_layers([inner.node, node])
    return [builder.add1(Transpose(merged), inner.source)]


def _move_through_operation(node: Node, builder: GraphBuilder, log: PassLog) -> list[Value] | None:
    permutations = [p for p in map(_permutation_of, node.operands) if p is not None]
    if isinstance(node.op, Transpose) or not permutations:
        return None
    back = permutations[0]
    if any(value.type.rank != len(back) for value in node.outputs) or not _pays(node.operands, back):
        return None
    forward = inverse(back)
    op = node.op.transposed(forward)
    if op is None:
        log.refused(node, "has no form for transposed operands")
        return None
    inputs = [None if value is None else _untransposed(value, forward, builder) for value in node.inputs]
    results = builder.add(op, inputs)
    log.changed(f"moved through {node.op.name}")
    return [builder.add1(Transpose(back), value, name=f"{node.name}.transposed") for value in results]


def _pays(values: list[Value], back: Permutation) -> bool:
    """True if more operands lose a transpose than get one."""
    saved = sum(_permutation_of(value) == back for value in values)
    added = sum(_permutation_of(value) != back and _needs_transpose(value, inverse(back)) for value in values)
    return saved > added or (saved == added and saved > 0 and len(values) > 1 and added == 0)


def _needs_transpose(value: Value, forward: Permutation) -> bool:
    return value.constant is None and not _is_view(_full_shape(value, len(forward)), forward)


def _full_shape(value: Value, rank: int) -> Shape:
    return (1,) * (rank - value.type.rank) + value.type.shape


def _is_view(shape: Shape, permutation: Permutation) -> bool:
    """True if the permutation moves only axes of extent 1 past others: the bytes stay as they are."""
    moved = [axis for axis in permutation if shape[axis] != 1]
    return moved == sorted(moved)


def _untransposed(value: Value, forward: Permutation, builder: GraphBuilder) -> Value:
    """``transpose(value, forward)``: by taking a transpose away, at compile time, as a view, or as a new node."""
    rank, turned = len(forward), _turned(value)
    if turned is not None and inverse(turned.permutation) == forward:
        return turned.source
    if value.type.rank == 0:
        return value
    if value.constant is not None:
        full = value.constant.reshape(*[1] * (rank - value.type.rank), *value.constant.shape)
        return builder.constant(np.transpose(full, forward), value.name)
    shape = _full_shape(value, rank)
    moved = tuple(shape[axis] for axis in forward)
    if _is_view(shape, forward):
        return builder.add1(Reshape(moved), value, name=f"{value.name}.view")
    if value.type.rank != rank:
        value = builder.add1(Reshape(shape), value, name=f"{value.name}.view")
    return builder.add1(Transpose(forward), value, name=f"{value.name}.transposed")


def _move_through_reshape(node: Node, builder: GraphBuilder, log: PassLog) -> list[Value] | None:
    if not isinstance(node.op, Reshape) or (turned := _turned(node.operand(0))) is None:
        return None
    found = blocks_through_reshape(turned.source.type.shape, turned.permutation, node.output.type.shape)
    if found is None:
        return None
    shape, permutation = found
    log.changed("moved through reshape")
    builder.layers = merged_layers([turned.node, node])
    view = builder.add1(Reshape(shape), turned.source)
    if permutation == tuple(range(len(permutation))):
        return [view]
    return [builder.add1(Transpose(permutation), view, name=f"{node.name}.transposed")]


def _view_instead(node: Node, builder: GraphBuilder, log: PassLog) -> list[Value] | None:
    if not isinstance(node.op, Transpose) or not _is_view(node.operand(0).type.shape, node.op.permutation):
        return None
    log.changed("turned into a view")
    return [builder.add1(Reshape(node.output.type.shape), node.operand(0))]
