"""Choice of kernel families: the cheapest that applies, and why not the others."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from cuvil_edge.errors import UnsupportedError
from cuvil_edge.ir.graph import Node
from cuvil_edge.ir.op import Op, Sample
from cuvil_edge.kernels import selection
from cuvil_edge.kernels.catalogue import candidates, templates
from cuvil_edge.kernels.kernel import KernelCall
from cuvil_edge.kernels.selection import select
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.resize import Resize
from cuvil_edge.registry import load_plugins
from cuvil_edge.target.target import Target
from tests.kernels.harness import build_node, target_for


class _Family(KernelTemplate):
    ops: ClassVar[tuple[str, ...]] = ("relu",)

    def __init__(self, cost: float, reason: str | None = None) -> None:
        self._cost, self._reason = cost, reason

    def refuse(self, node: Node, target: Target) -> str | None:
        return self._reason

    def cost(self, node: Node, target: Target) -> float:
        return self._cost

    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        return []


def node_of(op: Op, *arrays: np.ndarray) -> Node:
    return build_node(Sample(op, arrays), symbolic=False)[0]


@pytest.fixture
def relu() -> Node:
    return node_of(Relu(), np.zeros((2, 3), np.float32))


def use(monkeypatch: pytest.MonkeyPatch, **families: KernelTemplate) -> None:
    monkeypatch.setattr(selection, "candidates", lambda op_name: tuple(families.items()))


def test_the_cheapest_family_is_chosen(monkeypatch: pytest.MonkeyPatch, relu: Node) -> None:
    cheap = _Family(1.0)
    use(monkeypatch, dear=_Family(2.0), cheap=cheap)
    chosen = select(relu, target_for("scalar"))
    assert chosen.template is cheap
    assert chosen.reasons == ("dear: cost 2, cheap costs 1",)


def test_a_family_that_refuses_is_not_chosen_and_says_why(monkeypatch: pytest.MonkeyPatch, relu: Node) -> None:
    slow = _Family(9.0)
    use(monkeypatch, fast=_Family(1.0, "the rank is 2"), slow=slow)
    chosen = select(relu, target_for("scalar"))
    assert chosen.template is slow
    assert chosen.reasons == ("fast: the rank is 2",)


def test_equal_costs_are_decided_by_name(monkeypatch: pytest.MonkeyPatch, relu: Node) -> None:
    first = _Family(1.0)
    use(monkeypatch, b=_Family(1.0), a=first)
    assert select(relu, target_for("scalar")).template is first


def test_no_family_left_tells_every_reason(monkeypatch: pytest.MonkeyPatch, relu: Node) -> None:
    use(monkeypatch, one=_Family(1.0, "the rank is 2"), two=_Family(1.0, "not on this target"))
    with pytest.raises(UnsupportedError) as caught:
        select(relu, target_for("scalar"))
    assert caught.value.details == ("one: the rank is 2", "two: not on this target")
    assert caught.value.thing == "node node"


def test_an_operation_without_kernels_is_named(monkeypatch: pytest.MonkeyPatch, relu: Node) -> None:
    use(monkeypatch)
    with pytest.raises(UnsupportedError, match="no kernel family for relu"):
        select(relu, target_for("scalar"))


def test_antialiasing_is_refused_with_its_reason() -> None:
    op = Resize((1, 2, 2), (None, None, None), "linear", antialias=True)
    with pytest.raises(UnsupportedError, match="antialiased"):
        select(node_of(op, np.zeros((1, 4, 4), np.float32)), target_for("scalar"))


def test_every_family_names_operations_that_exist() -> None:
    ops = load_plugins("cuvil_edge.ops", Op)
    for name, template in templates().items():
        assert set(template.ops) <= set(ops), name
        assert all((name, template) in candidates(op) for op in template.ops)


def test_every_basic_operation_has_kernels() -> None:
    folded = {"shape", "size"}
    for name, op in load_plugins("cuvil_edge.ops", Op).items():
        decomposes = any("decompose" in vars(base) for base in op.__mro__ if base is not Op)
        if not op.is_view and not decomposes and name not in folded:
            assert candidates(name), f"{name} neither decomposes nor has kernels"
