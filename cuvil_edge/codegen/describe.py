"""The manifest's view of a plan."""

from __future__ import annotations

from cuvil_edge.artifact.manifest import (
    ArenaInfo,
    Expr,
    Manifest,
    MemoryInfo,
    ModelInfo,
    ReferenceCase,
    SlotInfo,
    StepInfo,
    SymbolInfo,
    TargetInfo,
    TensorInfo,
    ValueInfo,
)
from cuvil_edge.codegen.reference import ReferenceData
from cuvil_edge.ir.dim import UNBOUNDED, Extent
from cuvil_edge.ir.plan import Plan, PlanTensor, Step, lay_out_arena
from cuvil_edge.target.target import Target

RELATIVE_TOLERANCE = 1e-4
"""Of the output's range: two correct f32 programs differ by the order of their sums, about 1e-6 a layer."""
ABSOLUTE_TOLERANCE = 1e-6


def describe_plan(
    plan: Plan,
    target: Target,
    model: ModelInfo,
    compiler_version: str,
    weights_bytes: int,
    reference: ReferenceData,
) -> tuple[Manifest, dict[str, bytes]]:
    """The manifest of a planned model, and the members that hold its reference case."""
    arena = lay_out_arena(plan.slots, reference.symbols)
    case, members = _reference_case("random", reference)
    manifest = Manifest(
        model=model,
        compiler_version=compiler_version,
        target=TargetInfo(
            name=target.name,
            board=target.board,
            isa=target.isa,
            arch=target.arch,
            triple=target.shared_triple,
            cpu=target.cpu,
            required_features=tuple(target.required_features),
        ),
        precision="f32",
        symbols=tuple(
            SymbolInfo(s.name, s.min, None if s.max >= UNBOUNDED else s.max, s.multiple_of) for s in plan.symbols
        ),
        inputs=tuple(_tensor(tensor) for tensor in plan.inputs),
        outputs=tuple(_tensor(tensor) for tensor in plan.outputs),
        memory=MemoryInfo(weights_bytes, ArenaInfo(reference.symbols, arena.planned_bytes, arena.lower_bound_bytes)),
        slots=tuple(
            SlotInfo(slot.kind, slot.first_step, slot.last_step, _text(slot.bytes), tuple(v.name for v in slot.values))
            for slot in plan.slots
        ),
        steps=tuple(_step(step) for step in plan.steps),
        reference=(case,),
    )
    return manifest, members


def _text(extent: Extent) -> Expr:
    return extent if isinstance(extent, int) else str(extent)


def _shape(tensor: PlanTensor) -> tuple[Expr, ...]:
    return tuple(_text(extent) for extent in tensor.type.shape)


def _tensor(tensor: PlanTensor) -> TensorInfo:
    return TensorInfo(tensor.name, tensor.type.dtype.value, _shape(tensor))


def _value(tensor: PlanTensor) -> ValueInfo:
    return ValueInfo(tensor.name, tensor.type.dtype.value, _shape(tensor))


def _step(step: Step) -> StepInfo:
    return StepInfo(
        name=step.name,
        op=step.op,
        kernel=step.kernel,
        layers=step.layers,
        dtype=step.outputs[0].type.dtype.value,
        inputs=tuple(_value(tensor) for tensor in step.inputs),
        outputs=tuple(_value(tensor) for tensor in step.outputs),
        flops=_text(step.cost.flops),
        bytes_read=_text(step.cost.bytes_read),
        bytes_written=_text(step.cost.bytes_written),
        weights_bytes=step.weights_bytes,
    )


def _reference_case(name: str, data: ReferenceData) -> tuple[ReferenceCase, dict[str, bytes]]:
    members: dict[str, bytes] = {}
    paths: dict[str, list[str]] = {"inputs": [], "outputs": []}
    for kind, arrays in (("inputs", data.inputs), ("outputs", data.outputs)):
        for index, array in enumerate(arrays):
            path = f"reference/{name}/{kind}/{index}.bin"
            members[path] = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
            paths[kind].append(path)
    case = ReferenceCase(
        name=name,
        symbols=data.symbols,
        inputs=tuple(paths["inputs"]),
        input_shapes=tuple(array.shape for array in data.inputs),
        outputs=tuple(paths["outputs"]),
        output_shapes=tuple(array.shape for array in data.outputs),
        relative_tolerance=RELATIVE_TOLERANCE,
        absolute_tolerance=ABSOLUTE_TOLERANCE,
    )
    return case, members
