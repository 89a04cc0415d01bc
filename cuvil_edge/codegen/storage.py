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
        self._outputs = set(graph.outputs)
        self._last_use = self._last_uses(graph)
        for value in graph.inputs:
            self._new_slot(value)
        for position, node in enumerate(graph.nodes):
            self._place(node, position)

    def _last_uses(self, graph: Graph) -> dict[Value, int]:
        """The last node that reads each value, counting reads of its views as its own."""
        last: dict[Value, int] = {}
        for position, node in enumerate(graph.nodes):
            last.update({value: position for value in node.inputs if value is not None})
        for node in reversed(graph.nodes):
            if node.op.is_view and (source := node.inputs[0]) is not None:
                last[source] = max(last[source], last.get(node.output, -1))
                if node.output in self._outputs:
                    self._outputs.add(source)
        return last

    def _place(self, node: Node, position: int) -> None:
        source = node.inputs[0] if node.inputs else None
        if node.op.is_view and source is not None and source.constant is None:
            self._join(node.output, source)
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
        for value in node.inputs:
            if value is None or value not in self.slot_of or value.type != node.output.type:
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
