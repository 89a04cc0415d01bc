"""Constraints between symbolic extents: decided while compiling where possible, else checked when symbols change."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.errors import ShapeError
from cuvil_edge.ir.dim import Dim, Extent, bounds


@dataclass(frozen=True)
class Check:
    """A condition ``left RELATION right`` (``==`` or ``>=``) and the sentence for the user when it does not hold."""

    left: Extent
    relation: str
    right: Extent
    message: str

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}: {self.message}"


class Checks:
    """Collects the conditions that cannot be decided while compiling."""

    def __init__(self) -> None:
        self.pending: dict[Check, None] = {}

    def equal(self, left: Extent, right: Extent, message: str) -> None:
        """Require ``left == right``; ShapeError if they surely differ."""
        low, high = bounds(left - right)
        if low > 0 or high < 0:
            raise ShapeError(message, expected=str(left), found=str(right))
        if low != 0 or high != 0:
            self.pending[Check(left, "==", right, message)] = None

    def at_least(self, left: Extent, right: Extent, message: str) -> None:
        """Require ``left >= right``; ShapeError if that surely does not hold."""
        low, high = bounds(left - right)
        if high < 0:
            raise ShapeError(message, expected=f"at least {right}", found=str(left))
        if low < 0:
            self.pending[Check(left, ">=", right, message)] = None


def broadcast_extent(left: Extent, right: Extent, checks: Checks, message: str) -> Extent:
    """The common extent of two axes under multidirectional broadcasting.

    A symbolic extent is taken to equal its counterpart unless that is the constant 1; the equality becomes a check.
    """
    if left == right or right == 1:
        return left
    if left == 1:
        return right
    checks.equal(left, right, message)
    return min(left, right, key=lambda extent: (isinstance(extent, Dim), len(str(extent))))


def broadcast_shapes(shapes: list[tuple[Extent, ...]], checks: Checks, message: str) -> tuple[Extent, ...]:
    """The common shape of several under multidirectional (numpy) broadcasting; ShapeError if there is none."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Extent] = [1] * rank
    for shape in shapes:
        for axis, extent in enumerate(shape, rank - len(shape)):
            result[axis] = broadcast_extent(result[axis], extent, checks, message)
    return tuple(result)
