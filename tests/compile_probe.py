"""``python -m tests.compile_probe``: compiles odd models with little memory and says what became of each.

Reads a line for each model: its name in ``tests.odd_models``, ``damaged SEED`` or ``mutated SEED``. Writes a line of
JSON for each: {"name", "outcome": "works"|"refused"|"fault", "text"}. A fault is everything that must not happen: an
exception that is no CuvilError, or an answer that is not the reference's.
"""

from __future__ import annotations

import contextlib
import json
import random
import resource
import sys
import traceback
from collections.abc import Callable

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, numpy_helper

import cuvil_edge
from cuvil_edge.codegen.planner import plan_program
from cuvil_edge.codegen.reference import make_reference
from cuvil_edge.compiler import Artifact
from cuvil_edge.errors import CuvilError
from cuvil_edge.frontends.onnx import import_onnx
from cuvil_edge.ir.dtype import DType
from cuvil_edge.passes.pipeline import LOWER, SIMPLIFY, run_passes
from cuvil_edge.target.target import host_target
from tests.models import every_family_model
from tests.odd_models import EITHER, REFUSED, WORKS

MEMORY_BYTES = 4 << 30
CHANGED_COUNT = 40
NUMBERS = (0, 1, -1, 2, 3, 7, 100, 2**16, 2**31 - 1, 2**31, 2**40, 2**62, -(2**63), 2**63 - 1)


def main() -> None:
    """Probe the model of each line."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    table = WORKS | REFUSED | EITHER
    for line in sys.stdin:
        name = line.strip()
        kind, _, seed = name.partition(" ")
        if kind in ("damaged", "mutated") and seed.isdigit():
            outcome, text = probe_changed(kind, int(seed))
        else:
            outcome, text = probe(table[name])
        print(json.dumps({"name": name, "outcome": outcome, "text": text}), flush=True)


def probe(make: Callable[[], ModelProto]) -> tuple[str, str]:
    """Compile one model, and run it if that works: outcome and text."""
    try:
        artifact = cuvil_edge.compile(make(), isa="scalar")
        wrong = wrong_answers(artifact)
    except CuvilError as error:
        return "refused", str(error)
    except Exception:
        return "fault", traceback.format_exc()
    return ("fault", wrong) if wrong else ("works", "")


def wrong_answers(artifact: Artifact) -> str:
    """How the answers of the artifact differ from those of its reference case; empty if they do not."""
    manifest, [case] = artifact.manifest, artifact.manifest.reference
    inputs = {
        tensor.name: np.frombuffer(artifact.members[path], DType(tensor.dtype).numpy).reshape(shape)
        for path, tensor, shape in zip(case.inputs, manifest.inputs, case.input_shapes, strict=True)
    }
    with cuvil_edge.InferenceContext(artifact, threads=1) as context:
        outputs = context.run(inputs)
    for (name, got), path, shape in zip(outputs.items(), case.outputs, case.output_shapes, strict=True):
        want = np.frombuffer(artifact.members[path], got.dtype).reshape(shape)
        if got.shape != want.shape or not np.allclose(got, want, rtol=1e-4, atol=1e-6, equal_nan=True):
            return f"output {name[:50]!r}: {got.ravel()[:8]}, expected {want.ravel()[:8]}"
    return ""


def probe_changed(kind: str, seed: int) -> tuple[str, str]:
    """A large model with something changed, many times, through everything but the compilation."""
    original, source = every_family_model(), random.Random(seed)
    for index in range(CHANGED_COUNT):
        model = damaged(original, source) if kind == "damaged" else mutated(original, source)
        try:
            with contextlib.suppress(CuvilError):
                plan(model)
        except Exception:
            return "fault", f"model {index} of seed {seed}\n{traceback.format_exc()}"
    return "works", ""


def damaged(model: ModelProto, source: random.Random) -> bytes:
    """The bytes of ``model`` with one to three of them changed."""
    data = bytearray(model.SerializeToString())
    for _ in range(source.randrange(1, 4)):
        data[source.randrange(len(data))] = source.randrange(256)
    return bytes(data)


def mutated(model: ModelProto, source: random.Random) -> ModelProto:
    """``model`` with one to three of its attributes, operands, shapes, types or small constants changed."""
    copy = ModelProto()
    copy.CopyFrom(model)
    for _ in range(source.randrange(1, 4)):
        source.choice((_change_attribute, _change_operands, _change_input, _change_constant, _change_type))(
            copy.graph, source
        )
    return copy


def _change_attribute(graph: GraphProto, source: random.Random) -> None:
    attribute = source.choice([attribute for node in graph.node for attribute in node.attribute])
    attribute.i = source.choice(NUMBERS)
    attribute.f = source.choice((0.0, -1.0, 1e-30, 1e30, float("nan"), float("inf")))
    if attribute.ints and source.random() < 0.8:
        attribute.ints[source.randrange(len(attribute.ints))] = source.choice(NUMBERS)
    elif attribute.ints:
        attribute.ints.append(source.choice(NUMBERS))
    if attribute.s:
        attribute.s = source.choice((b"", b"nearest", b"cubic", b"edge", b"wrap", b"\xff"))


def _change_operands(graph: GraphProto, source: random.Random) -> None:
    node, other = source.choice(graph.node), source.choice(graph.node)
    names = [
        *(name for each in graph.node for name in each.output),
        *(each.name for each in graph.initializer),
        "x",
        "",
    ]
    change = source.randrange(4)
    if change == 0:
        node.op_type = other.op_type
    elif change == 1:
        node.input[source.randrange(len(node.input))] = source.choice(names)
    elif change == 2:
        node.input.append(source.choice(names))
    else:
        del node.input[-1]


def _change_input(graph: GraphProto, source: random.Random) -> None:
    dim = source.choice(graph.input[0].type.tensor_type.shape.dim)
    if source.random() < 0.5:
        dim.dim_param = source.choice(("N", "H", "W", "N*H", ""))
    else:
        dim.dim_value = source.choice(NUMBERS)


def _change_constant(graph: GraphProto, source: random.Random) -> None:
    tensor = source.choice(graph.initializer)
    if tensor.data_type == TensorProto.INT64 and tensor.raw_data:
        values = np.frombuffer(tensor.raw_data, np.int64).copy()
        values[source.randrange(len(values))] = source.choice(NUMBERS)
        tensor.raw_data = values.tobytes()
    elif tensor.data_type == TensorProto.FLOAT and source.random() < 0.5:
        values = np.frombuffer(tensor.raw_data, np.float32).copy()
        values[source.randrange(len(values))] = source.choice((0.0, np.nan, np.inf, -1e30))
        tensor.raw_data = values.tobytes()
    else:
        dims = list(tensor.dims)
        source.shuffle(dims)
        tensor.dims[:] = dims


def _change_type(graph: GraphProto, source: random.Random) -> None:
    if source.random() < 0.5:
        graph.input[0].type.tensor_type.elem_type = source.randrange(24)
        return
    tensor = source.choice(graph.initializer)
    if tensor.data_type == TensorProto.INT64:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.int32), tensor.name))
    else:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))


def plan(model: bytes | ModelProto) -> None:
    """All stages that do not need a compiler."""
    with np.errstate(all="ignore"):
        graph = import_onnx(model).graph
        make_reference(graph)
        run_passes(graph, SIMPLIFY)
        run_passes(graph, LOWER)
        plan_program(graph, host_target("scalar"))


if __name__ == "__main__":
    main()
