"""Risks: the manifest says something else than the plan, or the reference case is stored in another order or layout."""

from __future__ import annotations

import numpy as np

from cuvil_edge.artifact.expression import evaluate as evaluate_text
from cuvil_edge.artifact.manifest import Manifest, ModelInfo
from cuvil_edge.codegen.describe import describe_plan
from cuvil_edge.codegen.planner import Program, plan_program
from cuvil_edge.codegen.reference import ReferenceData, make_reference
from cuvil_edge.ir.dim import Dim, Symbol, evaluate
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.plan import lay_out_arena
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.matmul import Matmul
from cuvil_edge.ops.relu import Relu
from cuvil_edge.ops.softmax import Softmax
from cuvil_edge.target.target import host_target
from tests.codegen.random_graphs import random_graph
from tests.passes.graphs import Sketch

MODEL = ModelInfo("sketch", "ab" * 32, "onnx")
TARGET = host_target()
H = Symbol("image height", min=2, max=64, multiple_of=2)
N = Symbol("N")


def described() -> tuple[Program, ReferenceData, Manifest, dict[str, bytes]]:
    s = Sketch()
    x = s.input(Dim.of(N), Dim.of(H), 3, name="image")
    offset = s.input(5, name="offset")
    y = s.add(Softmax(2), s.add(Add(), s.add(Matmul(), s.add(Relu(), x), s.constant(3, 5)), offset))
    count = s.add(Add(), s.input(2, name="count", dtype=DType.I64), s.builder.constant(np.array([1, 2]), "steps"))
    graph = s.outputs(y, count)
    reference, program = make_reference(graph), plan_program(graph, TARGET)
    manifest, members = describe_plan(program.plan, TARGET, MODEL, "1.2.3", 640, reference)
    return program, reference, manifest, members


def test_inputs_outputs_and_symbols_are_the_models() -> None:
    _, _, manifest, _ = described()
    assert [(t.name, t.dtype, t.shape) for t in manifest.inputs] == [
        ("image", "f32", ("N", "`image height`", 3)),
        ("offset", "f32", (5,)),
        ("count", "i64", (2,)),
    ]
    assert [(t.name, t.dtype) for t in manifest.outputs] == [("y0", "f32"), ("y1", "i64")]
    assert [(s.name, s.min, s.max, s.multiple_of) for s in manifest.symbols] == [
        ("N", 1, None, 1),
        ("image height", 2, 64, 2),
    ]
    assert (manifest.compiler_version, manifest.precision, manifest.model) == ("1.2.3", "f32", MODEL)
    assert (manifest.target.isa, manifest.target.triple) == (TARGET.isa, TARGET.shared_triple)
    assert manifest.target.required_features == TARGET.required_features


def test_steps_and_slots_say_what_the_plan_says_for_all_extents() -> None:
    for seed in range(2000, 2010):
        graph = random_graph(seed)
        program, reference = plan_program(graph, TARGET), make_reference(graph)
        manifest, _ = describe_plan(program.plan, TARGET, MODEL, "1", 64, reference)
        for at in ({"N": 1, "width": 2}, {"N": 7, "width": 120}):
            for step, info in zip(program.plan.steps, manifest.steps, strict=True):
                assert (info.name, info.op, info.kernel, info.layers) == (step.name, step.op, step.kernel, step.layers)
                assert evaluate_text(info.flops, at) == evaluate(step.cost.flops, at)
                assert evaluate_text(info.bytes_read, at) == evaluate(step.cost.bytes_read, at)
                assert evaluate_text(info.bytes_written, at) == evaluate(step.cost.bytes_written, at)
                for tensor, value in zip((*step.inputs, *step.outputs), (*info.inputs, *info.outputs), strict=True):
                    wanted = [evaluate(extent, at) for extent in tensor.type.shape]
                    assert [evaluate_text(extent, at) for extent in value.shape] == wanted
                    assert value.value == tensor.name
            for slot, shown in zip(program.plan.slots, manifest.slots, strict=True):
                assert evaluate_text(shown.bytes, at) == evaluate(slot.bytes, at)
                assert (shown.kind, shown.first_step, shown.last_step) == (slot.kind, slot.first_step, slot.last_step)
                assert shown.values == tuple(value.name for value in slot.values)


def test_memory_is_that_of_the_reference_case() -> None:
    program, reference, manifest, _ = described()
    layout = lay_out_arena(program.plan.slots, reference.symbols)
    assert manifest.memory.weights_bytes == 640
    assert manifest.memory.arena.symbols == reference.symbols
    assert manifest.memory.arena.planned_bytes == layout.planned_bytes
    assert manifest.memory.arena.lower_bound_bytes == layout.lower_bound_bytes


def test_the_reference_case_can_be_read_back() -> None:
    _, reference, manifest, members = described()
    [case] = manifest.reference
    assert case.symbols == reference.symbols
    assert set(members) == {*case.inputs, *case.outputs}
    for tensors, arrays, paths, shapes in (
        (manifest.inputs, reference.inputs, case.inputs, case.input_shapes),
        (manifest.outputs, reference.outputs, case.outputs, case.output_shapes),
    ):
        for tensor, array, path, shape in zip(tensors, arrays, paths, shapes, strict=True):
            stored = {"f32": "<f4", "i64": "<i8"}[tensor.dtype]
            np.testing.assert_array_equal(np.frombuffer(members[path], stored).reshape(shape), array)


def test_arrays_of_the_other_byte_order_are_stored_in_the_usual_one() -> None:
    program, reference, _, _ = described()
    swapped = [array.astype(array.dtype.newbyteorder(">")) for array in reference.inputs]
    data = ReferenceData(reference.symbols, swapped, reference.outputs)
    _, members = describe_plan(program.plan, TARGET, MODEL, "1", 64, data)
    np.testing.assert_array_equal(
        np.frombuffer(members["reference/random/inputs/0.bin"], "<f4").reshape(reference.inputs[0].shape),
        reference.inputs[0],
    )


def test_the_manifest_survives_its_file() -> None:
    _, _, manifest, _ = described()
    assert Manifest.from_json(manifest.to_json()) == manifest
