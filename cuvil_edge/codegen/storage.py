"""Which values share memory: views with what they view, and results with an operand that dies in the same step."""

from __future__ import annotations

from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.ops._elementwise import Elementwise


class Storage:
    """Assigns every run-time value of a graph to a slot number.

    Attributes:
        slot_of: slot number of each value.
        values: values of each slot, the one that defines its size first.
    """

    def __init__(self, graph: Graph) -> None:
        self.slot_of: dict[Value, int] = {}
        self.values: list[list[Value]] = []
        self._outputs = self._shown_by_outputs(graph)
        self._last_use = {value: position for position, node in enumerate(graph.nodes) for value in node.operands}
        for value in graph.inputs:
            self._new_slot(value)
        for position, node in enumerate(graph.nodes):
            self._place(node, position)

    @staticmethod
    def _shown_by_outputs(graph: Graph) -> set[Value]:
        """The outputs and what they are views of."""
        shown = set(graph.outputs)
        for node in reversed(graph.nodes):
            if node.op.is_view and node.output in shown:
                shown.add(node.operand(0))
        return shown

    def _place(self, node: Node, position: int) -> None:
        if node.op.is_view and node.operand(0).constant is None:
            self._join(node.output, node.operand(0))
            return
        donor = self._donor(node, position)
        for value in node.outputs:
            if donor is not None:
                self._join(value, donor)
            else:
                self._new_slot(value)

    def _donor(self, node: Node, position: int) -> Value | None:
        """An operand whose bytes an element-wise result may overwrite, because nobody reads them later."""
        if not isinstance(node.op, Elementwise) or node.output in self._outputs:
            return None
        for value in node.operands:
            if value not in self.slot_of or value.type != node.output.type:
                continue
            sharers = self.values[self.slot_of[value]]
            owned = sharers[0].producer is not None and not any(sharer in self._outputs for sharer in sharers)
            if owned and all(self._last_use.get(sharer, -1) <= position for sharer in sharers):
                return value
        return None

    def _new_slot(self, value: Value) -> None:
        self.slot_of[value] = len(self.values)
        self.values.append([value])

    def _join(self, value: Value, other: Value) -> None:
        self.slot_of[value] = self.slot_of[other]
        self.values[self.slot_of[other]].append(value)
