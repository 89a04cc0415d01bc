"""Risks: two live slots share bytes; the plan needs more than it should."""

from __future__ import annotations

import random

from cuvil_edge.ir.dim import Dim, Symbol
from cuvil_edge.ir.plan import ALIGNMENT_BYTES, Slot, lay_out_arena, lower_bound_bytes


def overlaps(slots: list[Slot], offsets: list[int], sizes: list[int]) -> list[tuple[int, int]]:
    """Pairs of slots that are live together and share bytes: what must never be."""
    found = []
    for i, a in enumerate(slots):
        for j, b in enumerate(slots[:i]):
            together = a.first_step <= b.last_step and b.first_step <= a.last_step
            share = offsets[i] < offsets[j] + sizes[j] and offsets[j] < offsets[i] + sizes[i]
            if together and share and sizes[i] and sizes[j]:
                found.append((i, j))
    return found


def random_slots(seed: int) -> list[Slot]:
    source = random.Random(seed)
    count = source.randint(1, 60)
    slots = []
    for _ in range(count):
        first = source.randint(0, 40)
        size = source.choice([0, 1, 63, 64, 100, 4096, 99999])
        slots.append(Slot("arena", size, first, first + source.randint(0, 9)))
    return slots


def test_live_slots_never_share_bytes() -> None:
    for seed in range(300):
        slots = random_slots(seed)
        layout = lay_out_arena(slots, {})
        sizes = [slot.bytes for slot in slots]
        assert overlaps(slots, layout.offsets_bytes, sizes) == [], f"seed {seed}"
        assert all(offset % ALIGNMENT_BYTES == 0 for offset in layout.offsets_bytes)
        assert layout.planned_bytes >= layout.lower_bound_bytes


def test_sizes_may_depend_on_symbols() -> None:
    n = Dim.of(Symbol("N"))
    slots = [Slot("arena", n * 100, 0, 1), Slot("arena", n * 50, 1, 2), Slot("arena", 6400, 2, 3)]
    for value in (1, 7, 64, 10_000):
        layout = lay_out_arena(slots, {"N": value})
        sizes = [100 * value, 50 * value, 6400]
        assert overlaps(slots, layout.offsets_bytes, sizes) == []


def test_disjoint_lifetimes_share_bytes() -> None:
    slots = [Slot("arena", 1000, 0, 1), Slot("arena", 1000, 2, 3), Slot("arena", 1000, 4, 5)]
    assert lay_out_arena(slots, {}).planned_bytes == 1024


def test_external_slots_take_no_arena() -> None:
    layout = lay_out_arena([Slot("input", 10**9, 0, 5), Slot("arena", 64, 0, 1), Slot("output", 10**9, 0, 5)], {})
    assert layout.planned_bytes == 64
    assert layout.offsets_bytes == [-1, 0, -1]


def test_lower_bound_is_the_fullest_step() -> None:
    slots = [Slot("arena", 0, 0, 2), Slot("arena", 0, 1, 1), Slot("arena", 0, 2, 4)]
    assert lower_bound_bytes(slots, [10, 100, 5]) == 110
    assert lower_bound_bytes([], []) == 0
