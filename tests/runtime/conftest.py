"""Artifacts of a model made by hand (tests/csrc/runtime/fake_model.c), compiled for this machine."""

from __future__ import annotations

import dataclasses
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuvil_edge.artifact.manifest import (
    Manifest,
    MemoryInfo,
    ModelInfo,
    SlotInfo,
    StepInfo,
    SymbolInfo,
    TargetInfo,
    TensorInfo,
    ValueInfo,
)
from cuvil_edge.artifact.writer import write_artifact

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests" / "csrc" / "runtime" / "fake_model.c"
WEIGHTS = np.array([1, 2, 3, 4], np.float32)


def compile_library(folder: Path, *defines: str) -> bytes:
    """The fake model as a shared library, with the C compiler of this machine or the one of zig."""
    found = shutil.which("cc") or shutil.which("gcc")
    compiler = [found] if found else [sys.executable, "-m", "ziglang", "cc"]
    output = folder / "fake.so"
    arguments = ["-shared", "-fPIC", "-O1", *defines, "-I", str(ROOT / "csrc"), str(SOURCE), "-o", str(output)]
    subprocess.run([*compiler, *arguments], check=True, timeout=300, capture_output=True)
    return output.read_bytes()


def make_manifest(**changes: Any) -> Manifest:
    """What a compiler would say about the fake model."""
    image = ValueInfo("image", "f32", ("N", 4))
    scaled, relu = ValueInfo("scaled", "f32", ("N", 4)), ValueInfo("relu", "f32", ("N", 4))
    sums, total = ValueInfo("sums", "f32", ("N",)), ValueInfo("total", "f32", (1,))
    rows = (
        ("Mul_0", "mul", "scale_rows", (image,), (scaled,), "N*8"),
        ("Relu_1", "relu", "relu", (scaled,), (relu,), "N*4"),
        ("Gather_2", "gather", "pick", (relu,), (ValueInfo("picked", "f32", (4,)),), 0),
        ("ReduceSum_3", "reduce_sum", "sum_rows", (relu,), (sums,), "N*4"),
        ("ReduceSum_4", "reduce_sum", "sum_all", (sums,), (total,), "N"),
    )
    steps = tuple(
        StepInfo(name, op, kernel, (name,), "f32", inputs, outputs, flops, "N*16", "N*16", 16 if op == "mul" else 0)
        for name, op, kernel, inputs, outputs, flops in rows
    )
    slots = (
        SlotInfo("input", 0, 0, "N*16", ("image",)),
        SlotInfo("input", 0, 0, "N*4", ("scale",)),
        SlotInfo("input", 2, 2, 8, ("row",)),
        SlotInfo("arena", 0, 1, "N*16", ("scaled",)),
        SlotInfo("arena", 1, 3, "N*16", ("relu",)),
        SlotInfo("output", 2, 2, 16, ("picked",)),
        SlotInfo("output", 3, 4, "N*4", ("sums",)),
        SlotInfo("output", 4, 4, 4, ("total",)),
    )
    arch = platform.machine()
    manifest = Manifest(
        model=ModelInfo("fake", "0" * 64, "onnx"),
        compiler_version="0.1.0",
        target=TargetInfo("test", None, "scalar", arch, f"{arch}-linux-gnu", "generic", ()),
        precision="f32",
        symbols=(SymbolInfo("N", 1, 64, 1),),
        inputs=(TensorInfo("image", "f32", ("N", 4)), TensorInfo("scale", "f32", ("N",)), TensorInfo("row", "i64", ())),
        outputs=(
            TensorInfo("picked", "f32", (4,)),
            TensorInfo("sums", "f32", ("N",)),
            TensorInfo("total", "f32", (1,)),
        ),
        memory=MemoryInfo(WEIGHTS.nbytes, None),
        slots=slots,
        steps=steps,
    )
    return dataclasses.replace(manifest, **changes)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The compiled fake model."""
    return compile_library(tmp_path_factory.mktemp("fake"))


@pytest.fixture
def make_artifact(tmp_path: Path, library: bytes) -> Callable[..., Path]:
    """Writes an artifact of the fake model; arguments change the manifest, ``members`` the members."""

    def make(*, members: dict[str, bytes] | None = None, name: str = "fake.cuvil", **changes: Any) -> Path:
        manifest = make_manifest(**changes)
        content = {manifest.library_name: library, "weights.bin": WEIGHTS.tobytes()} | (members or {})
        write_artifact(tmp_path / name, manifest, content)
        return tmp_path / name

    return make


@pytest.fixture
def artifact(make_artifact: Callable[..., Path]) -> Path:
    """The artifact of the fake model."""
    return make_artifact()


def make_inputs(rows: int, row: int = 0, seed: int = 0) -> dict[str, Any]:
    """Inputs of the fake model."""
    random = np.random.default_rng(seed)
    return {
        "image": random.standard_normal((rows, 4)).astype(np.float32),
        "scale": random.standard_normal(rows).astype(np.float32),
        "row": np.array(row, np.int64),
    }


def expected_outputs(inputs: dict[str, Any]) -> dict[str, Any]:
    """What the fake model must answer, by numpy."""
    relu = np.maximum(inputs["image"] * WEIGHTS * inputs["scale"][:, None], 0)
    sums = relu.sum(axis=1)
    return {"picked": relu[int(inputs["row"])], "sums": sums, "total": sums.sum(keepdims=True)}
