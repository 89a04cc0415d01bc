"""What a planned model takes on its target, as plain values: for ``check``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cuvil_edge.cli._shapes import symbol_text, symbols_text, tensor_json, tensor_rows
from cuvil_edge.cli._table import table
from cuvil_edge.units import format_bytes, format_count

if TYPE_CHECKING:
    from cuvil_edge.artifact.manifest import SymbolInfo, TensorInfo
    from cuvil_edge.codegen.planner import Program
    from cuvil_edge.frontends.onnx import ImportedModel
    from cuvil_edge.ir.plan import Plan, PlanTensor
    from cuvil_edge.target.target import Target


@dataclass(frozen=True)
class ModelSummary:
    """What the plan says, as plain values; sizes are those at ``symbols``."""

    model: str
    opset: int
    target: Target
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    ranges: tuple[SymbolInfo, ...]
    symbols: dict[str, int]
    layers: int
    steps: int
    parameters: int
    macs: int
    weights_bytes: int
    arena_bytes: int
    arena_lower_bound_bytes: int
    memory_bytes: int | None
    kernels: dict[str, int]
    refusals: list[str]

    @classmethod
    def of(cls, imported: ImportedModel, program: Program, target: Target) -> ModelSummary:
        """Evaluate the plan at small extents that the model allows."""
        from cuvil_edge.board.board import load_board
        from cuvil_edge.ir.dim import evaluate
        from cuvil_edge.ir.plan import lay_out_arena

        plan = program.plan
        symbols = _small_extents(plan)
        arena = lay_out_arena(plan.slots, symbols)
        return cls(
            model=imported.name,
            opset=imported.opset,
            target=target,
            inputs=_tensors(plan.inputs),
            outputs=_tensors(plan.outputs),
            ranges=_ranges(plan),
            symbols=symbols,
            layers=len({layer for step in plan.steps for layer in step.layers}),
            steps=len(plan.steps),
            parameters=_count_parameters(imported),
            macs=sum(evaluate(step.cost.flops, symbols) for step in plan.steps) // 2,
            weights_bytes=program.weights.size_bytes,
            arena_bytes=arena.planned_bytes,
            arena_lower_bound_bytes=arena.lower_bound_bytes,
            memory_bytes=load_board(target.board or "host").memory_bytes,
            kernels=dict(Counter(step.kernel.rpartition("_")[0] for step in plan.steps).most_common()),
            refusals=program.refusals,
        )

    @property
    def fits(self) -> bool:
        """Whether weights and arena fit into the board's memory."""
        return self.memory_bytes is None or self.weights_bytes + self.arena_bytes < self.memory_bytes

    def text(self) -> str:
        """For people."""
        at = f" at {symbols_text(self.symbols)}" if self.symbols else ""
        need = self.weights_bytes + self.arena_bytes
        rows = [
            *tensor_rows("inputs", self.inputs),
            *tensor_rows("outputs", self.outputs),
            *(("symbols" if not i else "", symbol_text(symbol)) for i, symbol in enumerate(self.ranges)),
            ("layers", f"{self.layers} of the model (opset {self.opset}) in {self.steps} steps"),
            ("work", f"{format_count(self.macs, 'MAC')}{at}, {format_count(self.parameters)} parameters"),
            (
                "memory",
                f"weights {format_bytes(self.weights_bytes)}, arena {format_bytes(self.arena_bytes)}{at} "
                f"(no plan needs less than {format_bytes(self.arena_lower_bound_bytes)})",
            ),
            *((("kernels" if not i else ""), f"{n} x {kernel}") for i, (kernel, n) in enumerate(self.kernels.items())),
        ]
        lines = [f"{self.model} can be compiled for {self.target.describe()}", table(rows)]
        if not self.fits and self.memory_bytes is not None:
            lines.append(
                f"warning: it needs {format_bytes(need)}{at}, the board has {format_bytes(self.memory_bytes)} of memory"
            )
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "model": self.model,
            "opset": self.opset,
            "target": {"name": self.target.name, "isa": self.target.isa, "cpu": self.target.cpu},
            "inputs": [tensor_json(tensor) for tensor in self.inputs],
            "outputs": [tensor_json(tensor) for tensor in self.outputs],
            "symbols": [asdict(symbol) for symbol in self.ranges],
            "at": self.symbols,
            "layers": self.layers,
            "steps": self.steps,
            "parameters": self.parameters,
            "macs": self.macs,
            "weights_bytes": self.weights_bytes,
            "arena_bytes": self.arena_bytes,
            "arena_lower_bound_bytes": self.arena_lower_bound_bytes,
            "board_memory_bytes": self.memory_bytes,
            "fits": self.fits,
            "kernels": self.kernels,
            "refusals": self.refusals,
        }


def _small_extents(plan: Plan) -> dict[str, int]:
    from cuvil_edge.codegen.reference import example_symbols
    from cuvil_edge.ir.dim import symbols_of

    batch = {s for tensor in plan.inputs if tensor.type.rank > 1 for s in symbols_of(tensor.type.shape[0])}
    return example_symbols(plan.symbols, plan.checks, frozenset(batch))


def _count_parameters(imported: ImportedModel) -> int:
    constants = {v for node in imported.graph.nodes for v in node.inputs if v is not None and v.constant is not None}
    return sum(v.constant.size for v in constants if v.constant is not None and v.type.dtype.is_float)


def _tensors(tensors: Sequence[PlanTensor]) -> tuple[TensorInfo, ...]:
    from cuvil_edge.artifact.manifest import TensorInfo
    from cuvil_edge.ir.graph import extents_text

    return tuple(TensorInfo(t.name, t.type.dtype.value, tuple(extents_text(t.type.shape))) for t in tensors)


def _ranges(plan: Plan) -> tuple[SymbolInfo, ...]:
    from cuvil_edge.artifact.manifest import SymbolInfo
    from cuvil_edge.ir.dim import UNBOUNDED

    return tuple(SymbolInfo(s.name, s.min, None if s.max >= UNBOUNDED else s.max, s.multiple_of) for s in plan.symbols)
