"""fold_scale_shift_into_conv: a per-channel multiplication or addition after a convolution moves into its weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Node, Value, merged_layers
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes
from cuvil_edge.passes.fusions._per_channel import channel_vector

_CONVOLUTIONS = ("conv", "conv_transpose")


@dataclass(frozen=True)
class _Affine:
    """``scale * y + shift`` per output channel, in float64 so that folding twice rounds once."""

    scale: np.ndarray
    shift: np.ndarray


class FoldScaleShiftIntoConv(Pass):
    """Covers batch normalisation (a multiplication and an addition), scales, biases and subtractions."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph`` until nothing folds any more."""
        while True:
            users = graph.users()

            def rewrite(node: Node, builder: GraphBuilder, users=users) -> list[Value] | None:
                found = self._match(node)
                if found is None:
                    return None
                conv, affine = found
                if len(users[conv.output]) != 1 or conv.output in graph.outputs:
                    log.refused(node, f"the result of {conv.name} is used elsewhere too")
                    return None
                builder.layers = merged_layers([conv, node])
                builder.name = conv.name
                log.changed(f"folded {node.op.name} into {conv.op.name}")
                return builder.add(conv.op, self._folded_inputs(conv, affine, builder))

            if not rewrite_nodes(graph, rewrite):
                break
            graph.remove_dead()

    def _match(self, node: Node) -> tuple[Node, _Affine] | None:
        if node.op.name not in ("mul", "add", "sub", "div") or len(node.inputs) != 2:
            return None
        for position in (0, 1):
            value, other = node.inputs[position], node.inputs[1 - position]
            conv = value.producer if value is not None else None
            if conv is None or conv.op.name not in _CONVOLUTIONS or conv.op.epilogue is not None:
                continue
            weights = conv.inputs[1]
            bias = conv.inputs[2] if len(conv.inputs) > 2 else None
            if weights is None or weights.constant is None or (bias is not None and bias.constant is None):
                continue
            if node.output.type.shape != value.type.shape:
                continue
            channels = value.type.shape[1]
            vector = channel_vector(other, channels, value.type.rank, 1) if isinstance(channels, int) else None
            if vector is None or (node.op.name == "div" and position == 1):
                continue
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
        weights = conv.inputs[1].constant
        bias_value = conv.inputs[2] if len(conv.inputs) > 2 else None
        if conv.op.name == "conv":
            scale = affine.scale.reshape(-1, *[1] * (weights.ndim - 1))
        else:  # weights are [C, M/group, k...]: channel m of group g belongs to the input rows of that group
            per_group = affine.scale.reshape(conv.op.group, weights.shape[1])
            scale = np.repeat(per_group, weights.shape[0] // conv.op.group, axis=0)
            scale = scale.reshape(*scale.shape, *[1] * (weights.ndim - 2))
        bias = np.zeros_like(affine.shift) if bias_value is None else bias_value.constant.astype(np.float64)
        folded = (weights * scale).astype(weights.dtype), (bias * affine.scale + affine.shift).astype(weights.dtype)
        return [conv.inputs[0], builder.constant(folded[0]), builder.constant(folded[1], f"{conv.name}.bias")]
