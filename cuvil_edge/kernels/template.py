"""Base of the kernel families: each is one file in ``templates/`` and says for which nodes it works, and why not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from cuvil_edge.ir.graph import Node
from cuvil_edge.kernels.kernel import KernelCall
from cuvil_edge.target.target import Target


class KernelTemplate(ABC):
    """A family of kernels."""

    ops: ClassVar[tuple[str, ...]]
    """Names of the operations that the family may compute."""

    @abstractmethod
    def refuse(self, node: Node, target: Target) -> str | None:
        """Why this family cannot compute ``node`` on ``target``, naming the thing; None if it can."""

    @abstractmethod
    def cost(self, node: Node, target: Target) -> float:
        """Estimated cost in arbitrary units that compare within one node; the cheapest applicable family is chosen."""

    @abstractmethod
    def lower(self, node: Node, target: Target) -> list[KernelCall]:
        """The calls that compute the node, in order. Every output is written completely."""
