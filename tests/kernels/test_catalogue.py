"""Risks: a family is not found or names no operation; an operation has no kernel and nobody knows."""

from __future__ import annotations

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Graph
from cuvil_edge.ir.op import Op
from cuvil_edge.kernels.catalogue import candidates, templates
from cuvil_edge.ops._elementwise import Elementwise
from cuvil_edge.registry import load_plugins
from tests.kernels.harness import build_node

OPERATIONS = load_plugins("cuvil_edge.ops", Op)
FOLDED = {"shape", "size"}
"""Only ever known as extents."""


def test_every_family_computes_operations_that_exist() -> None:
    for name, template in templates().items():
        assert template.ops, name
        assert set(template.ops) <= set(OPERATIONS), name
        assert all((name, template) in candidates(op) for op in template.ops)


def test_an_operation_is_a_view_or_decomposes_or_has_a_family() -> None:
    for name, op in OPERATIONS.items():
        if op.is_view or name in FOLDED or candidates(name):
            continue
        node, _, _ = build_node(op.samples()[0], symbolic=False)
        assert node.op.decompose(GraphBuilder(Graph("test"), "node", ("node",)), node.inputs) is not None, name


def test_every_element_wise_operation_has_the_loops() -> None:
    for name, op in OPERATIONS.items():
        if issubclass(op, Elementwise):
            assert "elementwise" in dict(candidates(name)), name


def test_an_unknown_operation_has_no_candidates() -> None:
    assert candidates("no_such_operation") == ()
