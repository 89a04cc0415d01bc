"""use_channels_last: spatial operations read and write pixels whose channels are contiguous.

The layout is explicit: a transpose before and one after. ``move_transposes`` then moves and cancels them.
"""

from __future__ import annotations

from dataclasses import replace

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.ops._window import SpatialOp
from cuvil_edge.ops.transpose import Transpose
from cuvil_edge.passes.base import Pass, PassLog, rewrite_nodes


def to_channels_last(rank: int) -> tuple[int, ...]:
    """The permutation from [N, C, spatial...] to [N, spatial..., C]."""
    return (0, *range(2, rank), 1)


def to_channels_first(rank: int) -> tuple[int, ...]:
    """The permutation from [N, spatial..., C] to [N, C, spatial...]."""
    return (0, rank - 1, *range(1, rank - 1))


class UseChannelsLast(Pass):
    """Every operation on images gets the attribute ``channels_last``."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""

        def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
            if not isinstance(node.op, SpatialOp) or node.op.channels_last:
                return None
            rank = node.operand(0).type.rank
            x = builder.add1(Transpose(to_channels_last(rank)), node.inputs[0], name=f"{node.name}.channels_last")
            op = node.op.transposed(to_channels_last(rank)) or replace(node.op, channels_last=True)
            y = builder.add(op, [x, *node.inputs[1:]])[0]
            log.changed(f"{node.op.name} in channels-last layout")
            return [builder.add1(Transpose(to_channels_first(rank)), y, name=f"{node.name}.channels_first")]

        rewrite_nodes(graph, rewrite)
