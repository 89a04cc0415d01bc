"""Small graphs for tests of passes, and the one question asked of every pass: are the answers still the same?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.evaluate import reference_run
from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.ir.verify import verify
from cuvil_edge.ops.conv import Conv
from cuvil_edge.passes.base import Pass, PassLog

N, H, W = (Dim.of(Symbol(name)) for name in "NHW")
RANDOM = np.random.default_rng(0)


class Sketch:
    """A graph being drawn: every node gets its own layer name."""

    def __init__(self) -> None:
        self.graph = Graph("sketch")
        self.builder = GraphBuilder(self.graph)
        self.count = 0

    def input(self, *shape: object, name: str = "x", dtype: DType = DType.F32) -> Value:
        return self.builder.input(name, dtype, shape)

    def constant(self, *shape: int) -> Value:
        return self.builder.constant(RANDOM.standard_normal(shape).astype(np.float32), "constant")

    def add(self, op: object, *inputs: Value | None) -> Value:
        name = f"layer{self.count}"
        self.count += 1
        return self.builder.add(op, inputs, name=name, layers=(name,))[0]

    def conv(self, x: Value, filters: int, kernel: int = 3, group: int = 1, bias: bool = True) -> Value:
        pad = kernel // 2
        op = Conv((1, 1), (pad,) * 4, (1, 1), group)
        weights = self.constant(filters, x.type.shape[1] // group, kernel, kernel)
        return self.add(op, x, weights, self.constant(filters) if bias else None)

    def outputs(self, *values: Value) -> Graph:
        self.graph.outputs = list(values)
        self.graph.output_names = [f"y{index}" for index in range(len(values))]
        verify(self.graph)
        return self.graph


def operations(graph: Graph) -> dict[str, int]:
    """How often each operation occurs."""
    return dict(Counter(node.op.name for node in graph.nodes))


def layers(graph: Graph) -> set[str]:
    """All layer names that the graph still knows."""
    return {layer for node in graph.nodes for layer in node.layers}


def check_same_answers(
    draw: Callable[[Sketch], Graph], passes: list[type[Pass]], symbols: dict[str, int] | None = None
) -> tuple[Graph, list[PassLog]]:
    """Run ``passes`` over the drawn graph and compare with the graph before, on fresh random inputs."""
    graph = draw(Sketch())
    values = {"N": 2, "H": 6, "W": 10} | (symbols or {})
    inputs = {}
    for value in graph.inputs:
        shape = [values[str(extent)] if isinstance(extent, Dim) else extent for extent in value.type.shape]
        inputs[value.name] = np.random.default_rng().standard_normal(shape).astype(value.type.dtype.numpy)
    before = reference_run(graph, inputs)
    logs = []
    for pass_class in passes:
        logs.append(PassLog(pass_class.__name__))
        pass_class().apply(graph, logs[-1])
        verify(graph)
    for want, got in zip(before, reference_run(graph, inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    return graph, logs
