"""Order of nodes: any order of the file gives a valid one, the file's own order where it is valid."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from onnx import NodeProto, helper

from cuvil_edge.errors import ModelError
from cuvil_edge.frontends.onnx.topology import sort_nodes
from tests.frontends.onnx.onnx_models import subgraph


def _sort(nodes: Sequence[NodeProto], outer: Sequence[str] = ()) -> tuple[list[int], list[ModelError]]:
    names = [f"n{index}" for index in range(len(nodes))]
    return sort_nodes(nodes, ["x"], lambda name: name in outer, names)


def _chain(length: int) -> list[NodeProto]:
    return [helper.make_node("Relu", [f"v{i}" if i else "x"], [f"v{i + 1}"]) for i in range(length)]


def test_a_valid_order_is_kept() -> None:
    order, faults = _sort(
        [*_chain(5), helper.make_node("Exp", ["x"], ["e"]), helper.make_node("Add", ["e", "v3"], ["s"])]
    )
    assert not faults
    assert sorted(order) == list(range(7))
    assert order.index(6) > order.index(5) > order.index(0)


@pytest.mark.parametrize("seed", range(5))
def test_shuffled_nodes_are_put_in_order(seed: int) -> None:
    nodes = _chain(50)
    places = list(range(50))
    random.Random(seed).shuffle(places)
    order, faults = _sort([nodes[place] for place in places])
    assert not faults
    assert [places[index] for index in order] == list(range(50))


def test_a_long_chain_needs_no_deep_stack() -> None:
    order, _ = _sort(_chain(20_000)[::-1])
    assert len(order) == 20_000


def test_values_read_inside_branches_count_as_reads() -> None:
    branch = subgraph([helper.make_node("Relu", ["late"], ["r"])], ["r"])
    choice = helper.make_node("If", ["x"], ["y"], then_branch=branch, else_branch=branch)
    order, faults = _sort([choice, helper.make_node("Exp", ["x"], ["late"])])
    assert (order, faults) == ([1, 0], [])


def test_values_of_an_enclosing_graph_exist_already() -> None:
    nodes = [helper.make_node("Relu", ["far"], ["y"])]
    assert _sort(nodes, ["far"]) == ([0], [])
    assert len(_sort(nodes)[1]) == 1


def test_nodes_outside_of_a_circle_are_still_ordered() -> None:
    nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"]), *_chain(3)]
    order, [fault] = _sort(nodes)
    assert order == [2, 3, 4]
    assert "n0 -> n1 -> n0" in str(fault) or "n1 -> n0 -> n1" in str(fault)
