"""fold_scale_shift_into_conv: a per-channel multiplication or addition after a convolution moves into its weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Node, Value, merged_layers
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.conv import Conv
from cuvil_edge.ops.conv_transpose import ConvTranspose
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.sub import Sub
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes
from cuvil_edge.passes.fusions._per_channel import channel_vector


@dataclass(frozen=True)
class _Affine:
    """``scale * y + shift`` per output channel, in float64 so that folding twice rounds once."""

    scale: np.ndarray
    shift: np.ndarray


class FoldScaleShiftIntoConv(Pass):
    """Covers batch normalisation (a multiplication and an addition), scales, biases and subtractions."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph`` until nothing folds any more."""
        while self._sweep(graph, log):
            graph.remove_dead()

    def _sweep(self, graph: Graph, log: PassLog) -> int:
        log.begin_sweep()
        users = graph.users()

        def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
            found = self._match(node)
            if found is None:
                return None
            conv, affine = found
            if len(users[conv.output]) != 1 or conv.output in graph.outputs:
                log.refused(node, f"the result of {conv.name} is used elsewhere too")
                return None
            builder.name, builder.layers = conv.name, merged_layers([conv, node])
            log.changed(f"folded {node.op.name} into {conv.op.name}")
            return builder.add(conv.op, self._folded_inputs(conv, affine, builder))

        return rewrite_nodes(graph, rewrite)

    def _match(self, node: Node) -> tuple[Node, _Affine] | None:
        if not isinstance(node.op, Mul | Add | Sub | Div):
            return None
        for position in (0, 1):
            value, other = node.operand(position), node.operand(1 - position)
            conv = value.producer
            if conv is None or not isinstance(conv.op, Conv | ConvTranspose) or conv.op.epilogue is not None:
                continue
            if any(parameter.constant is None for parameter in conv.operands[1:]):
                continue
            channels = value.type.shape[1]
            vector = channel_vector(other, channels, value.type.rank, 1) if isinstance(channels, int) else None
            if vector is None or (isinstance(node.op, Div) and (position == 1 or not vector.all())):
                continue  # the result divides, or is divided by zero
            return conv, self._affine(node.op.name, position, vector)
        return None

    @staticmethod
    def _affine(name: str, position: int, vector: np.ndarray) -> _Affine:
        one, zero = np.ones_like(vector), np.zeros_like(vector)
        if name == "mul":
            return _Affine(vector, zero)
        if name == "div":
            return _Affine(1 / vector, zero)
        if name == "add":
            return _Affine(one, vector)
        return _Affine(one, -vector) if position == 0 else _Affine(-one, vector)

    @staticmethod
    def _folded_inputs(conv: Node, affine: _Affine, builder: GraphBuilder) -> list[Value | None]:
        weights, bias_value = conv.operand(1).data, conv.optional(2)
        if isinstance(conv.op, ConvTranspose):  # [C, M/group, k...]: filter m of group g is in the rows of that group
            per_group = affine.scale.reshape(conv.op.group, weights.shape[1])
            scale = np.repeat(per_group, weights.shape[0] // conv.op.group, axis=0)
            scale = scale.reshape(*scale.shape, *[1] * (weights.ndim - 2))
        else:
            scale = affine.scale.reshape(-1, *[1] * (weights.ndim - 1))
        bias = np.zeros_like(affine.shift) if bias_value is None else bias_value.data.astype(np.float64)
        folded = (weights * scale).astype(weights.dtype), (bias * affine.scale + affine.shift).astype(weights.dtype)
        return [conv.inputs[0], builder.constant(folded[0]), builder.constant(folded[1], f"{conv.name}.bias")]
