"""Small artifacts for tests of the device side: their program is the fake agent."""

from __future__ import annotations

import json
import platform
import struct
import sys
from pathlib import Path
from typing import Any

from cuvil_edge.artifact.manifest import (
    ArenaInfo,
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
from cuvil_edge.artifact.writer import write_artifact

FAKE_AGENT = Path(__file__).with_name("fake_agent.py")


def make_manifest(**changes: Any) -> Manifest:
    """A model y = relu(2 x) with a symbolic batch, of two steps."""
    x, t, y = (ValueInfo(name, "f32", ("N", 4)) for name in "xty")
    common = {"flops": "N*4", "bytes_read": "N*16", "bytes_written": "N*16", "weights_bytes": 0, "dtype": "f32"}
    steps = (
        StepInfo(name="double", op="mul", kernel="k0", layers=("double",), inputs=(x,), outputs=(t,), **common),
        StepInfo(name="relu", op="relu", kernel="k1", layers=("relu",), inputs=(t,), outputs=(y,), **common),
    )
    arch = platform.machine()
    values: dict[str, Any] = {
        "model": ModelInfo("tiny", "0" * 64, "onnx"),
        "compiler_version": "0.1.0",
        "target": TargetInfo("host", None, "scalar", arch, f"{arch}-linux-gnu", "generic", ()),
        "precision": "f32",
        "symbols": (SymbolInfo("N"),),
        "inputs": (TensorInfo("x", "f32", ("N", 4)),),
        "outputs": (TensorInfo("y", "f32", ("N", 4)),),
        "memory": MemoryInfo(64, ArenaInfo({"N": 1}, 64, 16)),
        "slots": (
            SlotInfo("input", 0, 0, "N*16", ("x",)),
            SlotInfo("arena", 0, 1, "N*16", ("t",)),
            SlotInfo("output", 1, 1, "N*16", ("y",)),
        ),
        "steps": steps,
        "reference": (
            ReferenceCase(
                "random",
                {"N": 1},
                ("reference/random/inputs/0.bin",),
                ((1, 4),),
                ("reference/random/outputs/0.bin",),
                ((1, 4),),
                1e-4,
                1e-6,
            ),
        ),
    }
    return Manifest(**{**values, **changes})


def make_artifact(
    path: Path, behaviour: dict[str, object] | None = None, *, padding_bytes: int = 0, **changes: Any
) -> Path:
    """An artifact whose fake agent behaves as told; other ``padding_bytes`` make another artifact."""
    manifest = make_manifest(**changes)
    program = f"#!{sys.executable} -SE\n".encode() + FAKE_AGENT.read_bytes()
    numbers = struct.pack("<4f", 1, -2, 3, -4)
    members = {
        manifest.program_name: program,
        "weights.bin": json.dumps(behaviour or {}).encode() + b"\0" + bytes(range(256)) * (padding_bytes // 256),
        "reference/random/inputs/0.bin": numbers,
        "reference/random/outputs/0.bin": struct.pack("<4f", 2, 0, 6, 0),
    }
    write_artifact(path, manifest, members)
    return path
