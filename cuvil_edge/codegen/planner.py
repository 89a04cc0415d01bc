"""Stages 4 and 5: choose a kernel for every node, then fix the order of steps, slots and weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cuvil_edge.codegen.storage import Storage
from cuvil_edge.codegen.weights import WeightsBuilder
from cuvil_edge.errors import CuvilError, UnsupportedError
from cuvil_edge.ir.dim import Extent, floordiv
from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.ir.op import Cost
from cuvil_edge.ir.plan import OperandRef, Plan, PlanTensor, Slot, Step
from cuvil_edge.kernels.kernel import Kernel, KernelCall, Operand
from cuvil_edge.kernels.selection import select
from cuvil_edge.target.target import Target


@dataclass
class Program:
    """A planned model: the plan, the kernels that it calls and its weights."""

    plan: Plan
    kernels: dict[str, Kernel]
    weights: WeightsBuilder
    refusals: list[str]
    """Why a cheaper-looking kernel family was not used, a line each."""


def plan_program(graph: Graph, target: Target) -> Program:
    """Lower every node of ``graph`` for ``target``.

    Raises:
        UnsupportedError: nodes that no kernel family can compute, all of them, with the families' reasons.
    """
    return _Planner(graph, target).run()


class _Planner:
    def __init__(self, graph: Graph, target: Target) -> None:
        self.graph = graph
        self.target = target
        self.storage = Storage(graph)
        self.weights = WeightsBuilder()
        self.kernels: dict[str, Kernel] = {}
        self.steps: list[Step] = []
        self.refusals: list[str] = []
        self.slots = [Slot("arena", values[0].type.bytes, -1, -1, list(values)) for values in self.storage.values]

    def run(self) -> Program:
        problems: list[str] = []
        for node in self.graph.nodes:
            if node.op.is_view:
                continue
            try:
                self._lower(node)
            except UnsupportedError as error:
                problems.append(f"node {node.name} ({node.op.name}): {error.what}")
                problems += [f"  {line}" for line in error.details]
        if problems:
            raise UnsupportedError(
                f"no kernel for {sum(not line.startswith(' ') for line in problems)} nodes",
                thing=self.graph.name,
                details=tuple(problems),
                hint="`cuvil-edge check` lists everything that a model needs",
            )
        self._close_lifetimes()
        return Program(self._plan(), self.kernels, self.weights, self.refusals)

    def _lower(self, node: Node) -> None:
        selection = select(node, self.target)
        self.refusals += [f"{node.name}: {reason}" for reason in selection.reasons]
        try:
            calls = selection.template.lower(node, self.target)
        except CuvilError as error:
            error.thing = error.thing or f"node {node.name} ({node.op.name})"
            raise
        operands = [{operand.value for operand in call.operands} for call in calls]
        users = Counter(value for values in operands for value in values if value is not None)
        for index, call in enumerate(calls):
            name = node.name if len(calls) == 1 else f"{node.name}#{index}"
            self._add_step(node, name, call, len(calls), users)

    def _add_step(self, node: Node, name: str, call: KernelCall, parts: int, users: Mapping[Value, int]) -> None:
        """A step of ``node``, which has ``parts`` of them; ``users`` says how many of these use a value."""
        position, outputs = len(self.steps), set(node.outputs)
        self.kernels[call.kernel.name] = call.kernel
        operands = tuple(self._reference(operand, position) for operand in call.operands)
        used = [operand.value for operand in call.operands if operand.value is not None]
        read = node.inputs if parts == 1 else [value for value in dict.fromkeys(used) if value not in outputs]
        run_time = [value for value in read if value is not None and value in self.storage.slot_of]
        written = node.outputs if parts == 1 else [value for value in dict.fromkeys(used) if value in outputs]
        cost = node.op.cost(
            [None if value is None else value.type for value in node.inputs], [value.type for value in node.outputs]
        )
        weights_bytes = sum(array.nbytes for array in map(self._constant, call.operands) if array is not None)
        self.steps.append(
            Step(
                name=name,
                op=node.op.name,
                kernel=call.kernel.name,
                layers=node.layers,
                operands=operands,
                extents=call.extents,
                work_items=call.work_items,
                scratch_bytes=call.scratch_bytes,
                inputs=tuple(_tensor(value) for value in run_time),
                outputs=tuple(_tensor(value) for value in written),
                cost=Cost(
                    floordiv(cost.flops, parts),
                    _total_bytes(run_time, users) + weights_bytes,
                    _total_bytes(written, users),
                ),
                weights_bytes=weights_bytes,
                notes=call.notes,
            )
        )

    @staticmethod
    def _constant(operand: Operand) -> np.ndarray | None:
        if operand.packed is not None:
            return operand.packed
        return operand.value.constant if operand.value is not None else None

    def _reference(self, operand: Operand, position: int) -> OperandRef:
        constant = self._constant(operand)
        if constant is not None:
            return OperandRef(None, self.weights.add(constant) + operand.offset_bytes)
        assert operand.value is not None
        index = self.storage.slot_of[operand.value]
        slot = self.slots[index]
        slot.first_step = position if slot.first_step < 0 else slot.first_step
        slot.last_step = position
        return OperandRef(index, operand.offset_bytes)

    def _close_lifetimes(self) -> None:
        """Inputs and outputs live outside the arena for the whole run; unused slots live in no step's way."""
        last = max(len(self.steps) - 1, 0)
        for kind, values in (("input", self.graph.inputs), ("output", self.graph.outputs)):
            for value in values:
                slot = self.slots[self.storage.slot_of[value]]
                slot.kind, slot.first_step, slot.last_step = kind, 0, last
        for slot in self.slots:
            if slot.first_step < 0:
                slot.first_step = slot.last_step = 0
                slot.bytes = 0

    def _plan(self) -> Plan:
        graph = self.graph
        return Plan(
            name=graph.name,
            symbols=graph.symbols(),
            inputs=[_tensor(value) for value in graph.inputs],
            outputs=[
                PlanTensor(name, value.type) for name, value in zip(graph.output_names, graph.outputs, strict=True)
            ],
            input_slots=[self.storage.slot_of[value] for value in graph.inputs],
            output_slots=[self.storage.slot_of[value] for value in graph.outputs],
            slots=self.slots,
            steps=self.steps,
            checks=list(graph.checks.pending),
        )


def _tensor(value: Value) -> PlanTensor:
    return PlanTensor(value.name, value.type)


def _total_bytes(values: Sequence[Value], users: Mapping[Value, int]) -> Extent:
    """Bytes of ``values``, of each the share of one of the calls that use it: all calls together count it once."""
    total: Extent = 0
    for value in values:
        total = total + floordiv(value.type.bytes, users.get(value, 1))
    return total
