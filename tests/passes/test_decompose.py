"""Risks: a part of a decomposition stays in one piece, or loses the layer that it belongs to."""

from __future__ import annotations

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ops.gemm import Gemm
from cuvil_edge.ops.global_average_pool import GlobalAveragePool
from cuvil_edge.ops.group_normalization import GroupNormalization
from cuvil_edge.ops.instance_normalization import InstanceNormalization
from cuvil_edge.ops.lp_normalization import LpNormalization
from cuvil_edge.ops.relu import Relu
from cuvil_edge.passes.decompose import Decompose
from tests.passes.graphs import H, N, Sketch, W, check_same_answers, layers, operations


def test_what_a_decomposition_is_made_of_decomposes_too() -> None:
    def draw(s: Sketch):
        y = s.add(InstanceNormalization(1e-5), s.input(N, 4, H, W), s.constant(4), s.constant(4))
        return s.outputs(s.add(GlobalAveragePool(), y), s.add(LpNormalization(1, 2), y))

    graph, [log] = check_same_answers(draw, [Decompose])
    builder = GraphBuilder(graph, "again", ("again",))
    assert all(node.op.decompose(builder, node.inputs) is None for node in list(graph.nodes))
    assert (
        set(operations(graph)) & {"instance_normalization", "global_average_pool", "lp_normalization", "reduce_l2"}
        == set()
    )
    assert layers(graph) == {"layer0", "layer1", "layer2"}
    assert log.changes["decomposed instance_normalization"] == 1


def test_groups_and_products() -> None:
    def draw(s: Sketch):
        y = s.add(GroupNormalization(2, 1e-5), s.input(N, 4, H, W), s.constant(4), s.constant(4))
        z = s.add(Gemm(0.5, 2.0), s.input(3, 5, name="a"), s.constant(5, 7), s.constant(7))
        return s.outputs(y, z)

    graph, _ = check_same_answers(draw, [Decompose])
    assert operations(graph).get("matmul") == 1
    assert "gemm" not in operations(graph)


def test_basic_operations_stay_as_they_are() -> None:
    def draw(s: Sketch):
        return s.outputs(s.add(Relu(), s.conv(s.input(N, 3, H, W), 4)))

    graph, [log] = check_same_answers(draw, [Decompose])
    assert operations(graph) == {"conv": 1, "relu": 1}
    assert not log.changes
