"""Risks: an operation on images keeps the slow layout, or its attributes are not turned with the data."""

from __future__ import annotations

import pytest

from cuvil_edge.ir.op import Op
from cuvil_edge.ops._window import SpatialOp
from cuvil_edge.ops.average_pool import AveragePool
from cuvil_edge.ops.conv import Conv
from cuvil_edge.ops.conv_transpose import ConvTranspose
from cuvil_edge.ops.max_pool import MaxPool
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.resize import Resize
from cuvil_edge.passes.move_transposes import inverse
from cuvil_edge.passes.use_channels_last import UseChannelsLast, to_channels_first, to_channels_last
from cuvil_edge.registry import load_plugins
from tests.passes.graphs import H, N, Sketch, W, check_same_answers, operations


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_the_permutations_undo_each_other(rank: int) -> None:
    assert inverse(to_channels_last(rank)) == to_channels_first(rank)
    assert [("N", "C", *"DHW"[5 - rank :])[axis] for axis in to_channels_last(rank)] == ["N", *"DHW"[5 - rank :], "C"]


def spatial_nodes(s: Sketch):
    x = s.input(N, 4, 6, 10)
    s.add(Conv((2, 1), (1, 0, 2, 1), (1, 2), 2), x, s.constant(6, 2, 3, 3), s.constant(6))
    s.add(ConvTranspose((2, 3), (0, 1, 1, 0), (1, 1), (1, 0), 2), x, s.constant(4, 3, 3, 2))
    s.add(MaxPool((3, 2), (1, 2), (1, 0, 0, 1), (1, 1)), x)
    s.add(AveragePool((2, 3), (2, 1), (1, 1, 0, 0), (1, 1), count_include_pad=True), x)
    s.add(Resize((N, 4, 12, 15), (1.0, 1.0, 2.0, 1.5), "linear"), x)
    s.add(Resize((N, 4, 3, 20), (1.0, 1.0, None, None), "nearest", "asymmetric"), x)
    return s.outputs(*(node.output for node in s.graph.nodes))


def test_all_of_them_compute_the_same_in_the_other_layout() -> None:
    graph, [log] = check_same_answers(spatial_nodes, [UseChannelsLast])
    spatial = [node.op for node in graph.nodes if isinstance(node.op, SpatialOp)]
    assert len(spatial) == 6
    assert all(op.channels_last for op in spatial)
    assert operations(graph)["transpose"] == 12
    assert sum(log.changes.values()) == 6


def test_no_operation_on_images_is_forgotten() -> None:
    kinds = {kind for kind in load_plugins("cuvil_edge.ops", Op).values() if issubclass(kind, SpatialOp)}
    assert kinds == {Conv, ConvTranspose, MaxPool, AveragePool, Resize}, "test the new one above"
    named = {kind for kind in load_plugins("cuvil_edge.ops", Op).values() if hasattr(kind, "channels_last")}
    assert named == kinds, "channels_last is the attribute of SpatialOp"


def test_what_has_the_layout_already_or_has_none_stays() -> None:
    def draw(s: Sketch):
        return s.outputs(
            s.add(Relu(), s.add(MaxPool((2, 2), (2, 2), (0,) * 4, (1, 1), channels_last=True), s.input(N, H, W, 3)))
        )

    graph, [log] = check_same_answers(draw, [UseChannelsLast])
    assert operations(graph) == {"max_pool": 1, "relu": 1}
    assert not log.changes
