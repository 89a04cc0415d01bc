"""``python -m tests.compile_probe NAME...``: compiles odd models with little memory and says what became of each.

One JSON object a line: {"name", "outcome": "works"|"refused"|"fault", "text", "seconds"}. "fault" is everything that
must not happen: another exception than a CuvilError, or an answer that is not the reference's.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import traceback
from collections.abc import Callable

import numpy as np
from onnx import ModelProto

import cuvil_edge
from cuvil_edge.compiler import Artifact
from cuvil_edge.errors import CuvilError
from cuvil_edge.ir.dtype import DType
from tests.odd_models import EITHER, REFUSED, WORKS

MEMORY_BYTES = 4 << 30


def main(names: list[str]) -> None:
    """Probe each model."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    table = WORKS | REFUSED | EITHER
    for name in names:
        start = time.monotonic()
        outcome, text = probe(table[name])
        line = {"name": name, "outcome": outcome, "text": text, "seconds": round(time.monotonic() - start, 2)}
        print(json.dumps(line), flush=True)


def probe(make: Callable[[], ModelProto]) -> tuple[str, str]:
    """What becomes of one model: outcome and text."""
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
    inputs = [
        np.frombuffer(artifact.members[path], DType(tensor.dtype).numpy).reshape(shape)
        for path, tensor, shape in zip(case.inputs, manifest.inputs, case.input_shapes, strict=True)
    ]
    with cuvil_edge.InferenceContext(artifact, threads=1) as context:
        named = {tensor.name: array for tensor, array in zip(manifest.inputs, inputs, strict=True)}
        outputs = context.run(named)
    for (name, got), path, shape in zip(outputs.items(), case.outputs, case.output_shapes, strict=True):
        want = np.frombuffer(artifact.members[path], got.dtype).reshape(shape)
        if got.shape != want.shape or not np.allclose(got, want, rtol=1e-4, atol=1e-6, equal_nan=True):
            return f"output {name[:50]!r}: {got.ravel()[:8]}, expected {want.ravel()[:8]}"
    return ""


if __name__ == "__main__":
    main(sys.argv[1:])
