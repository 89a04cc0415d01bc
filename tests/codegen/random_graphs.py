"""Random graphs in which values live long and short, are viewed, split, joined and given out."""

from __future__ import annotations

import random

import numpy as np

from cuvil_edge.errors import CuvilError
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Symbol, product
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.concat import Concat
from cuvil_edge.ops.conv_transpose import ConvTranspose
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.reduce_mean import ReduceMean
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.split import Split
from cuvil_edge.ops.transpose import Transpose
from cuvil_edge.passes.base import PassLog
from cuvil_edge.passes.separate_outputs import SeparateOutputs

N = Symbol("N", min=1, max=64)
WIDTH = Symbol("width", min=2, max=4096, multiple_of=2)
SYMBOLS = (N, WIDTH)


def random_graph(seed: int, node_count: int = 30) -> Graph:
    """A graph as it comes out of the passes: every output is written by a step; every value has a name of its own."""
    source = random.Random(seed)
    graph = Graph(f"random{seed}")
    builder = GraphBuilder(graph)
    values = [
        builder.input(f"x{index}", DType.F32, (Dim.of(N), 4, Dim.of(WIDTH), channels))
        for index, channels in enumerate((4, 8))
    ]
    while len(graph.nodes) < node_count:
        name = f"v{len(graph.nodes)}"
        builder.name, builder.layers = name, (name,)
        try:
            made = _random_node(source, builder, values)
        except CuvilError:
            continue  # these shapes do not fit together
        if graph.checks.pending:  # they would fit for some values of the symbols only
            graph.checks.pending.clear()
            graph.nodes.pop()
            continue
        values += made
    unread = [value for value in values if value not in graph.users()]
    graph.outputs = [*unread, *source.sample(values, source.randint(0, 3))]
    graph.output_names = [f"y{index}" for index in range(len(graph.outputs))]
    SeparateOutputs().apply(graph, PassLog("separate_outputs"))
    return graph


def _random_node(source: random.Random, builder: GraphBuilder, values: list[Value]) -> list[Value]:
    x, other = source.choice(values[-3:]), source.choice(values)
    same = [value for value in values if value.type == x.type]
    depth = x.type.shape[-1]
    make = {
        "unary": lambda: builder.add(Relu(), [x]),
        "sum": lambda: builder.add(Add(), source.sample([x, source.choice(same)], 2)),
        "broadcast": lambda: builder.add(Mul(), [x, other]),
        "constant": lambda: builder.add(Mul(), [builder.constant(np.ones((1,), np.float32)), x]),
        "view": lambda: builder.add(Reshape((*x.type.shape[:-2], product(x.type.shape[-2:]))), [x]),
        "flat": lambda: builder.add(Reshape((x.type.elements,)), [x]),
        "turn": lambda: builder.add(Transpose((0, 2, 1, *range(3, x.type.rank))), [x]),
        "join": lambda: builder.add(Concat(1), [x, source.choice(same)]),
        "split": lambda: builder.add(Split(1, (2, 2)), [x]),
        "mean": lambda: builder.add(ReduceMean((x.type.rank - 1,), True), [x]),
        "product": lambda: builder.add(Matmul(), [x, builder.constant(np.ones((depth, 8), np.float32))]),
        "phases": lambda: builder.add(
            ConvTranspose((2, 2), (0,) * 4, (1, 1), (0, 0), channels_last=True),
            [x, builder.constant(np.ones((depth, 4, 2, 2), np.float32))],
        ),
    }
    kind = source.choice(list(make))
    small = isinstance(depth, int) and x.type.rank == 4
    if (kind in ("product", "phases") and not small) or (kind == "turn" and x.type.rank < 3):
        kind = "unary"
    return make[kind]()
