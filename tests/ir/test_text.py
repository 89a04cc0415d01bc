"""A graph as text: one line a node, with layers, outputs and open checks."""

from __future__ import annotations

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph
from cuvil_edge.ir.text import to_text
from cuvil_edge.ops.add import Add


def test_every_part_is_shown() -> None:
    graph = Graph("small")
    builder = GraphBuilder(graph, "sum", ("layer_a", "layer_b"))
    x = builder.input("x", DType.F32, (Dim.of(Symbol("N")),))
    y = builder.input("y", DType.F32, (4,))
    graph.outputs = [builder.add1(Add(), x, y)]
    assert to_text(graph).splitlines() == [
        "graph small(%x: f32[N], %y: f32[4])",
        "  %sum: f32[4] = Add()(%x, %y)  # layer_a, layer_b",
        "  return %sum",
        "  check N == 4: shapes do not broadcast: f32[N], f32[4]",
    ]
