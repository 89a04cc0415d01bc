"""Choice of the kernel family for a node: the cheapest that applies."""

from __future__ import annotations

from typing import NamedTuple

from cuvil_edge.errors import UnsupportedError
from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.catalogue import candidates
from cuvil_edge.kernels.template import KernelTemplate
from cuvil_edge.target.target import Target


class Selection(NamedTuple):
    """The family chosen for a node, and a line ``<family>: <reason>`` for each one that was not."""

    template: KernelTemplate
    reasons: tuple[str, ...]


def select(node: Node, target: Target) -> Selection:
    """The cheapest family that does not refuse ``node``.

    Raises:
        UnsupportedError: none applies; the details hold every family's reason.
    """
    reasons: list[str] = []
    applicable: list[tuple[float, str, KernelTemplate]] = []
    for name, template in candidates(node.op.name):
        if reason := template.refuse(node, target):
            reasons.append(f"{name}: {reason}")
        else:
            applicable.append((template.cost(node, target), name, template))
    if not applicable:
        raise UnsupportedError(
            f"no kernel computes {node.op.name} here",
            thing=f"node {node.name}",
            found=", ".join("-" if value is None else str(value.type) for value in node.inputs) or "no inputs",
            details=tuple(reasons) or (f"there is no kernel family for {node.op.name}",),
        )
    applicable.sort(key=lambda entry: entry[:2])
    best, name, template = applicable[0]
    reasons += [f"{other}: cost {cost:.4g}, {name} costs {best:.4g}" for cost, other, _ in applicable[1:]]
    return Selection(template, tuple(reasons))
