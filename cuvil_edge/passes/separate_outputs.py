"""separate_outputs: every output of the graph gets memory of its own that one step writes."""

from __future__ import annotations

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.ir.scalar import Arg
from cuvil_edge.ops.fused_elementwise import FusedElementwise
from cuvil_edge.passes.base import Pass, PassLog


class SeparateOutputs(Pass):
    """Copies outputs that are inputs, constants, or share bytes (through views) with another output."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        """Rewrite ``graph``."""
        taken: set[Value] = set()
        for index, value in enumerate(graph.outputs):
            root = _viewed(value)
            if root.producer is not None and root not in taken:
                taken.add(root)
                continue
            layers = root.producer.layers if root.producer else (graph.output_names[index],)
            builder = GraphBuilder(graph, f"copy.{graph.output_names[index]}", layers)
            graph.outputs[index] = builder.add1(FusedElementwise(Arg(0, value.type.dtype)), value)
            log.changed("copied an output")


def _viewed(value: Value) -> Value:
    """What ``value`` is a view of, or itself."""
    while value.producer is not None and value.producer.op.is_view and (source := value.producer.inputs[0]) is not None:
        value = source
    return value
