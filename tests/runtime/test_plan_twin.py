"""The arena is planned twice, by the compiler and by the runtime: different offsets would make its reports lies."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge import _runtime
from cuvil_edge.ir.plan import Slot, lay_out_arena

KINDS = {"arena": 0, "input": 1, "output": 2}


@pytest.mark.parametrize("seed", range(50))
def test_both_planners_give_the_same_offsets(seed: int) -> None:
    random = np.random.default_rng(seed)
    steps = int(random.integers(1, 40))
    slots = []
    for _ in range(int(random.integers(0, 80))):
        first = int(random.integers(0, steps))
        last = min(steps - 1, first + int(random.integers(0, 10)))
        size = int(random.choice([0, 1, 64, 65, 4096, int(random.integers(1, 100_000))]))
        slots.append(Slot(str(random.choice(list(KINDS), p=[0.8, 0.1, 0.1])), size, first, last))
    layout = lay_out_arena(slots, {})
    rows = [(KINDS[slot.kind], slot.first_step, slot.last_step, int(slot.bytes)) for slot in slots]
    offsets, planned_bytes, lower_bound_bytes = _runtime.plan_arena(rows, steps)
    arena = [slot.kind == "arena" for slot in slots]
    assert [o for o, mine in zip(offsets, arena, strict=True) if mine] == [
        o for o, mine in zip(layout.offsets_bytes, arena, strict=True) if mine
    ]
    assert (planned_bytes, lower_bound_bytes) == (layout.planned_bytes, layout.lower_bound_bytes)
