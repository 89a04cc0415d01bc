"""Risks: a rewrite loses the user's names, leaves readers with the old value, or overlooks a second reader."""

from __future__ import annotations

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Node, Value
from cuvil_edge.ir.verify import verify
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.exp import Exp
from cuvil_edge.ops.neg import Neg
from cuvil_edge.ops.relu import Relu
from cuvil_edge.passes.base import PassLog, replace_op, rewrite_nodes, sole_user
from tests.passes.graphs import H, N, Sketch, layers, operations


def test_a_rewritten_node_keeps_names_and_layers_and_its_place() -> None:
    s = Sketch()
    y = s.add(Relu(), s.input(N, H))
    y.name = "wanted"
    graph = s.outputs(s.add(Neg(), y), y)

    def rewrite(node: Node, builder: GraphBuilder) -> list[Value] | None:
        return replace_op(node, builder, Exp()) if node.op.name == "relu" else None

    assert rewrite_nodes(graph, rewrite) == 1
    verify(graph)
    assert [node.op.name for node in graph.nodes] == ["exp", "neg"]
    assert graph.nodes[0].output.name == "wanted"
    assert layers(graph) == {"layer0", "layer1"}
    assert graph.outputs[1] is graph.nodes[0].output is graph.nodes[1].inputs[0]


def test_several_new_nodes_belong_to_the_layer_of_the_old_one() -> None:
    s = Sketch()
    graph = s.outputs(s.add(Relu(), s.input(N, H)))
    rewrite_nodes(
        graph,
        lambda node, builder: (
            [builder.add1(Neg(), builder.add1(Exp(), node.operand(0)))] if node.op.name == "relu" else None
        ),
    )
    verify(graph)
    assert operations(graph) == {"exp": 1, "neg": 1}
    assert all(node.layers == ("layer0",) for node in graph.nodes)


def test_a_node_may_be_replaced_by_its_own_operand() -> None:
    s = Sketch()
    x = s.input(N, H)
    graph = s.outputs(s.add(Neg(), s.add(Relu(), x)))
    rewrite_nodes(graph, lambda node, builder: [node.operand(0)] if node.op.name == "relu" else None)
    assert graph.nodes[0].inputs == [x]
    assert x.name == "x", "the graph's input took the name of an inner value"


def test_sole_user_sees_second_readers_and_outputs() -> None:
    s = Sketch()
    x = s.input(N, H)
    once, twice, given = s.add(Relu(), x), s.add(Exp(), x), s.add(Neg(), x)
    square = s.add(Add(), once, once)
    other = s.add(Add(), twice, given)
    graph = s.outputs(square, other, given, s.add(Relu(), twice))
    users = graph.users()
    assert sole_user(once, users, graph) is square.producer
    assert sole_user(twice, users, graph) is None
    assert sole_user(given, users, graph) is None
    assert sole_user(other, users, graph) is None


def test_a_refusal_is_told_once_and_changes_are_counted() -> None:
    s = Sketch()
    node = s.outputs(s.add(Relu(), s.input(N))).nodes[0]
    log = PassLog("pass")
    for _ in range(2):
        log.refused(node, "no")
        log.changed("moved")
    assert log.refusals == ["layer0 (relu): no"]
    assert log.changes == {"moved": 2}
