"""Risks: two passes work against each other, a pass that breaks a graph is not noticed, the order of passes rots."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.ir.graph import Graph
from cuvil_edge.ir.verify import GraphFault
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.batch_normalization import BatchNormalization
from cuvil_edge.ops.clip import Clip
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.expand import Expand
from cuvil_edge.ops.flatten import Flatten
from cuvil_edge.ops.gemm import Gemm
from cuvil_edge.ops.global_average_pool import GlobalAveragePool
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.ops.max_pool import MaxPool
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.shape import Shape
from cuvil_edge.ops.sigmoid import Sigmoid
from cuvil_edge.ops.softmax import Softmax
from cuvil_edge.ops.transpose import Transpose
from cuvil_edge.passes.base import Pass, PassLog
from cuvil_edge.passes.pipeline import LOWER, SIMPLIFY, run_passes
from tests.passes.graphs import H, N, Sketch, W, check_same_answers, layers, operations

ALL = [*SIMPLIFY, *LOWER]


def normalised(s: Sketch, x, channels: int):
    return s.add(BatchNormalization(1e-3), x, *(positive(s, channels) for _ in range(4)))


def positive(s: Sketch, channels: int):
    return s.builder.constant(np.random.default_rng(channels).uniform(0.5, 2, channels).astype(np.float32), "parameter")


def test_an_image_classifier_is_convolutions_one_mean_and_one_product() -> None:
    def draw(s: Sketch):
        y = s.add(Clip(0, 6), normalised(s, s.conv(s.input(N, 3, H, W), 8), 8))
        for _ in range(2):
            inner = s.add(Clip(0, 6), normalised(s, s.conv(y, 8, group=8, bias=False), 8))
            y = s.add(Add(), y, normalised(s, s.conv(inner, 8, kernel=1), 8))
        y = s.add(Flatten(1), s.add(GlobalAveragePool(), y))
        return s.outputs(s.add(Softmax(1), s.add(Gemm(), y, s.constant(8, 5), s.constant(5))))

    graph, _ = check_same_answers(draw, ALL)
    views = {"reshape": 1, "flatten": 1}
    assert operations(graph) == {"transpose": 1, "conv": 5, "reduce_mean": 1, "matmul": 1, "softmax": 1} | views
    assert layers(graph) == {f"layer{index}" for index in range(19)}


def test_swish_and_squeeze_and_excite_ride_in_the_stores() -> None:
    def draw(s: Sketch):
        y = s.conv(s.input(N, 3, H, W), 8)
        y = s.add(Mul(), y, s.add(Sigmoid(), y))
        gate = s.add(Sigmoid(), s.conv(s.add(Relu(), s.conv(s.add(GlobalAveragePool(), y), 2, kernel=1)), 8, kernel=1))
        return s.outputs(s.conv(s.add(Mul(), y, gate), 4, kernel=1))

    graph, _ = check_same_answers(draw, ALL)
    assert operations(graph) == {"transpose": 2, "conv": 4, "reduce_mean": 1, "mul": 1}


def test_attention_has_no_transposed_copy_of_its_keys() -> None:
    def draw(s: Sketch):
        x = s.input(N, H, 8)
        q, k = (s.add(Matmul(), x, s.constant(8, 8)) for _ in range(2))
        scores = s.add(Softmax(2), s.add(Matmul(), q, s.add(Transpose((0, 2, 1)), k)))
        return s.outputs(s.add(Matmul(), scores, x))

    assert operations(check_same_answers(draw, ALL)[0]) == {"matmul": 4, "softmax": 1}


def test_shapes_that_are_computed_in_the_model_cost_nothing() -> None:
    def draw(s: Sketch):
        x = s.add(Relu(), s.input(N, 4, H, W))
        doubled = s.add(Add(), s.add(Shape(), x), s.add(Shape(), x))
        assert doubled.content is not None
        half = s.add(Div(), doubled, s.builder.constant(np.array([2]), "two"))
        assert half.content is not None
        return s.outputs(s.add(Expand(tuple(half.content)), s.add(MaxPool((1, 1), (1, 1), (0,) * 4, (1, 1)), x)))

    graph, _ = check_same_answers(draw, ALL)
    assert not set(operations(graph)) & {"shape", "add", "div", "extents"}


class Breaks(Pass):
    """Takes the producer of a value away."""

    def apply(self, graph: Graph, log: PassLog) -> None:
        del graph.nodes[0]


def test_a_pass_that_breaks_a_graph_is_caught_at_once() -> None:
    s = Sketch()
    graph = s.outputs(s.add(Relu(), s.add(Relu(), s.input(N))))
    with pytest.raises(GraphFault):
        run_passes(graph, [Breaks])


def test_logs_are_named_after_the_passes_and_timed() -> None:
    s = Sketch()
    logs = run_passes(s.outputs(s.add(Relu(), s.input(N))), ALL)
    assert [log.name for log in logs][:3] == ["fold_constants", "decompose", "fold_constants"]
    assert all(log.duration_ns > 0 for log in logs)


def test_a_second_run_changes_nothing() -> None:
    s = Sketch()
    y = s.add(Relu(), normalised(s, s.conv(s.input(N, 3, H, W), 8), 8))
    graph = s.outputs(s.add(Flatten(1), s.add(GlobalAveragePool(), y)))
    run_passes(graph, ALL)
    before = operations(graph)
    assert all(not log.changes for log in run_passes(graph, ALL))
    assert operations(graph) == before
