"""Risks: a slot dies too early and its bytes are given away; a node without a kernel hides others; a size is wrong.

The steps of random plans are executed over the bytes of the arena, at the smallest, the largest and random extents.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np
import pytest

from cuvil_edge.codegen.planner import Program, plan_program
from cuvil_edge.errors import UnsupportedError
from cuvil_edge.ir.dim import Dim, bounds, evaluate
from cuvil_edge.ir.graph import Graph, Value
from cuvil_edge.ir.plan import Plan, lay_out_arena
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.concat import Concat
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.resize import Resize
from cuvil_edge.ops.split import Split
from cuvil_edge.target.target import host_target
from tests.codegen.random_graphs import SYMBOLS, random_graph
from tests.codegen.test_storage import viewed
from tests.passes.graphs import H, N, Sketch, W

Bytes = tuple[str, int, int]
"""A kind of memory (the arena, or a buffer of the caller), first byte and end."""


class Memory:
    """Who wrote which bytes last."""

    def __init__(self, plan: Plan, symbols: Mapping[str, int]) -> None:
        layout = lay_out_arena(plan.slots, symbols)
        self.places: list[Bytes] = []
        for index, slot in enumerate(plan.slots):
            offset, size = max(layout.offsets_bytes[index], 0), evaluate(slot.bytes, symbols)
            self.places.append((slot.kind if slot.kind == "arena" else f"{slot.kind} {index}", offset, offset + size))
        self.owners: dict[Bytes, Value] = {}

    def write(self, slot: int, value: Value) -> None:
        kind, begin, end = self.places[slot]
        hit = [place for place in self.owners if place[0] == kind and place[1] < end and begin < place[2]]
        for place in hit:
            del self.owners[place]
        self.owners[self.places[slot]] = value

    def holds(self, slot: int, value: Value) -> bool:
        _, begin, end = self.places[slot]
        return begin == end or self.owners.get(self.places[slot]) is value


def faults(graph: Graph, program: Program, symbols: Mapping[str, int]) -> list[str]:
    """Every read that does not find all bytes of its value, and every operand outside of what the step says it uses."""
    plan, memory = program.plan, Memory(program.plan, symbols)
    slot_of = {value: index for index, slot in enumerate(plan.slots) for value in slot.values}
    nodes = {node.name: node for node in graph.nodes}
    for value in graph.inputs:
        memory.write(slot_of[value], value)
    found = []
    unwritten = {slot_of[value] for node in graph.nodes if not node.op.is_view for value in node.outputs}
    for step in plan.steps:
        node = nodes[step.name.split("#")[0]]
        reads = [value for value in node.operands if value.constant is None]
        found += [f"{step.name} reads {x.name}" for x in reads if not memory.holds(slot_of[x], viewed(x))]
        for value in node.outputs:
            memory.write(slot_of[value], value)
        if step.name.endswith("#0"):  # the other parts of the node read the same operands
            found += [f"{step.name} overwrites {x.name}" for x in reads if not memory.holds(slot_of[x], viewed(x))]
        used = {ref.slot for ref in step.operands if ref.slot is not None}
        unwritten -= used
        if not used <= {slot_of[value] for value in (*reads, *node.outputs)}:
            found.append(f"{step.name} uses the slots {used}")
    found += [f"nobody writes slot {slot}" for slot in unwritten]
    return found + [f"output {y.name}" for y in graph.outputs if not memory.holds(slot_of[y], viewed(y))]


def extents(seed: int) -> list[dict[str, int]]:
    source = random.Random(seed)
    draw = {symbol.name: source.randrange(symbol.min, symbol.max + 1, symbol.multiple_of) for symbol in SYMBOLS}
    return [{s.name: s.min for s in SYMBOLS}, {s.name: s.max for s in SYMBOLS}, draw]


@pytest.mark.parametrize("block", range(5))
def test_every_step_finds_its_operands_in_the_arena(block: int) -> None:
    target, shared = host_target(), 0
    for seed in range(1000 + block * 8, 1008 + block * 8):
        graph = random_graph(seed)
        program = plan_program(graph, target)
        for symbols in extents(seed):
            assert faults(graph, program, symbols) == [], f"seed {seed} at {symbols}"
            sizes = [evaluate(slot.bytes, symbols) for slot in program.plan.slots if slot.kind == "arena"]
            shared += lay_out_arena(program.plan.slots, symbols).planned_bytes < sum(sizes)
    assert shared > 8, "the plans are no test: hardly any bytes are used twice"


def test_the_simulation_notices_a_slot_that_dies_too_early() -> None:
    graph = random_graph(1000)
    noticed = 0
    for index, slot in enumerate(plan_program(graph, host_target()).plan.slots):
        if slot.kind != "arena" or slot.last_step - slot.first_step < 3:
            continue
        program = plan_program(graph, host_target())
        program.plan.slots[index].last_step = slot.first_step
        noticed += any(faults(graph, program, symbols) for symbols in extents(0))
    assert noticed > 0


def test_sizes_follow_the_symbols_and_the_callers_buffers_live_throughout() -> None:
    s = Sketch()
    a = s.add(Relu(), s.input(N, H, 3))
    y = s.add(Add(), s.add(Matmul(), a, s.constant(3, 5)), s.constant(1))
    s.input(W, name="unused")
    program = plan_program(s.outputs(y), host_target())
    kinds = {slot.kind: slot for slot in program.plan.slots}
    last = len(program.plan.steps) - 1
    assert (kinds["input"].first_step, kinds["input"].last_step) == (0, last)
    assert (kinds["output"].first_step, kinds["output"].last_step) == (0, last)
    assert evaluate(kinds["output"].bytes, {"N": 2, "H": 7}) == 2 * 7 * 5 * 4
    assert [slot.kind for slot in program.plan.slots].count("input") == 2


def test_views_are_no_steps_and_equal_kernels_are_one() -> None:
    s = Sketch()
    y = s.input(N, H)
    for _ in range(3):
        y = s.add(Reshape((N * H,)), s.add(Relu(), y))
    program = plan_program(s.outputs(s.add(Relu(), y)), host_target())
    assert [step.op for step in program.plan.steps] == ["relu"] * 4
    assert len(program.kernels) == len({step.kernel for step in program.plan.steps}) <= 2


def test_weights_are_counted_for_the_step_that_reads_them() -> None:
    s = Sketch()
    weights = s.constant(32, 16)
    y = s.add(Matmul(), s.add(Matmul(), s.input(8, 32), weights), s.constant(16, 32))
    y = s.add(Matmul(), y, weights)
    program = plan_program(s.outputs(y), host_target())
    first, second, third = program.plan.steps
    assert first.weights_bytes == third.weights_bytes >= 32 * 16 * 4
    assert first.cost.bytes_read == 8 * 32 * 4 + first.weights_bytes
    assert first.cost.flops == 2 * 8 * 32 * 16
    assert len(program.weights.to_bytes()) < first.weights_bytes + second.weights_bytes + third.weights_bytes


def test_all_nodes_without_a_kernel_are_told_at_once() -> None:
    s = Sketch()
    x = s.input(1, 2, 2)
    blurred = s.add(Resize((1, 1, 1), (None,) * 3, "linear", antialias=True), x)
    again = s.add(Resize((1, 1, 1), (None,) * 3, "cubic", antialias=True), x)
    with pytest.raises(UnsupportedError, match="2 nodes") as caught:
        plan_program(s.outputs(blurred, again), host_target())
    told = "\n".join(caught.value.details)
    assert "node layer0 (resize)" in told
    assert "antialiased" in told
    assert "node layer1 (resize)" in told


def test_a_reference_to_a_part_of_a_value_keeps_its_offset() -> None:
    graph = random_graph(1003)
    for step in plan_program(graph, host_target()).plan.steps:
        for ref in step.operands:
            low, _ = bounds(ref.offset_bytes) if isinstance(ref.offset_bytes, Dim) else (ref.offset_bytes, 0)
            assert low >= 0
            assert ref.slot is not None or np.remainder(ref.offset_bytes, 64) == 0


def test_a_step_of_several_tells_what_it_reads_itself() -> None:
    """Not all operands of its operation: their number would be the square of a wide concatenation's."""
    sketch = Sketch()
    first, second = sketch.input(N, 3), sketch.input(2, 3, name="x2")
    joined = sketch.add(Concat(0), first, second, first)
    left, right = sketch.builder.add(Split(1, (1, 2)), [joined], name="split", layers=("split",))
    program = plan_program(sketch.outputs(left, right), host_target("scalar"))
    reads = [[tensor.name for tensor in step.inputs] for step in program.plan.steps]
    writes = [[tensor.name for tensor in step.outputs] for step in program.plan.steps]
    assert reads == [["x"], ["x2"], ["x"], [joined.name], [joined.name]]
    assert writes == [[joined.name]] * 3 + [[left.name], [right.name]]
    at = {"N": 4}
    assert sum(evaluate(step.cost.bytes_read, at) for step in program.plan.steps[3:]) == evaluate(joined.type.bytes, at)
    assert [evaluate(step.cost.bytes_written, at) for step in program.plan.steps[3:]] == [10 * 4, 10 * 8]
