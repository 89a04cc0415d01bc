"""The plan of a program: its steps in order, the slots they read and write, and how slots share the arena.

A slot is live from the first to the last step that touches it. Slots whose lifetimes do not overlap may share bytes.
The runtime plans again whenever symbols change, with the same algorithm: both must give the same offsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cuvil_edge.ir.check import Check
from cuvil_edge.ir.dim import Extent, Symbol, evaluate
from cuvil_edge.ir.graph import Value
from cuvil_edge.ir.op import Cost
from cuvil_edge.ir.tensor_type import TensorType

ALIGNMENT_BYTES = 64
"""``CUVIL_ALIGNMENT`` of the ABI."""


@dataclass
class Slot:
    """A buffer. ``kind`` is ``arena``, ``input`` or ``output``; live in the closed range of steps."""

    kind: str
    bytes: Extent
    first_step: int
    last_step: int
    values: list[Value] = field(default_factory=list)


@dataclass(frozen=True)
class OperandRef:
    """Where an operand pointer points to: into slot ``slot``, or into the weights if ``slot`` is None."""

    slot: int | None
    offset_bytes: Extent


@dataclass(frozen=True)
class PlanTensor:
    """A tensor as a step sees it, for reports."""

    name: str
    type: TensorType


@dataclass(frozen=True)
class Step:
    """One kernel call."""

    name: str
    op: str
    kernel: str
    layers: tuple[str, ...]
    operands: tuple[OperandRef, ...]
    extents: tuple[Extent, ...]
    work_items: Extent
    scratch_bytes: Extent
    inputs: tuple[PlanTensor, ...]
    outputs: tuple[PlanTensor, ...]
    cost: Cost
    weights_bytes: int
    notes: str = ""


@dataclass
class Plan:
    """Everything that code generation needs besides the kernels' sources and the weights."""

    name: str
    symbols: list[Symbol]
    inputs: list[PlanTensor]
    outputs: list[PlanTensor]
    input_slots: list[int]
    output_slots: list[int]
    slots: list[Slot]
    steps: list[Step]
    checks: list[Check]


@dataclass(frozen=True)
class ArenaLayout:
    """Offsets of the arena slots for given symbols; -1 for slots that live outside the arena."""

    offsets_bytes: list[int]
    planned_bytes: int
    lower_bound_bytes: int


def align(size_bytes: int) -> int:
    """``size_bytes`` rounded up to the arena's alignment."""
    return -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def lay_out_arena(slots: Sequence[Slot], symbols: Mapping[str, int]) -> ArenaLayout:
    """Give every arena slot an offset: larger slots first, each at the lowest place free for its whole life."""
    sizes = [align(evaluate(slot.bytes, symbols)) if slot.kind == "arena" else 0 for slot in slots]
    offsets = [-1 if slot.kind != "arena" else 0 for slot in slots]
    placed: list[int] = []
    for index in sorted((i for i, size in enumerate(sizes) if size), key=lambda i: (-sizes[i], i)):
        slot = slots[index]
        neighbours = sorted(
            (offsets[other], sizes[other])
            for other in placed
            if slots[other].first_step <= slot.last_step and slot.first_step <= slots[other].last_step
        )
        offset = 0
        for start, size in neighbours:
            if start - offset >= sizes[index]:
                break
            offset = max(offset, start + size)
        offsets[index] = offset
        placed.append(index)
    planned = max((offsets[i] + sizes[i] for i in placed), default=0)
    return ArenaLayout(offsets, planned, lower_bound_bytes(slots, sizes))


def lower_bound_bytes(slots: Sequence[Slot], sizes: Sequence[int]) -> int:
    """The largest sum of sizes of slots that are live in one step: no layout can need less."""
    last = max((slot.last_step for slot in slots), default=-1)
    change = [0] * (last + 2)
    for slot, size in zip(slots, sizes, strict=True):
        change[slot.first_step] += size
        change[slot.last_step + 1] -= size
    live = best = 0
    for delta in change:
        live += delta
        best = max(best, live)
    return best
