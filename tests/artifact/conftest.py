"""A small manifest with everything in it, and artifacts made of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

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

MEMBERS: Final = {
    "weights.bin": bytes(range(256)) * 3,
    "lib/raspberry-pi-5.so": b"\x7fELF library",
    "bin/raspberry-pi-5": b"\x7fELF program",
    "reference/random/inputs/0.bin": b"\0" * 48,
    "reference/random/outputs/0.bin": b"\1" * 16,
}


def make_manifest() -> Manifest:
    """A manifest with symbols, a step, slots and a reference case."""
    image = ValueInfo("image", "f32", ("N", 3, "`im h`//2"))
    logits = ValueInfo("logits", "f32", ("N", 4))
    return Manifest(
        model=ModelInfo("tiny", "0" * 64, "onnx"),
        compiler_version="0.1.0",
        target=TargetInfo(
            "raspberry-pi-5",
            "raspberry-pi-5",
            "arm64_neondot",
            "aarch64",
            "aarch64-linux-gnu.2.28",
            "cortex_a76",
            ("asimd", "asimddp"),
        ),
        precision="f32",
        symbols=(SymbolInfo("N", 1, 8, 1), SymbolInfo("im h", 2, None, 2)),
        inputs=(TensorInfo("image", "f32", ("N", 3, "`im h`//2")),),
        outputs=(TensorInfo("logits", "f32", ("N", 4)),),
        memory=MemoryInfo(768, ArenaInfo({"N": 1, "im h": 8}, 64, 48)),
        slots=(SlotInfo("arena", 0, 0, "N*48", ("t1",)), SlotInfo("input", 0, 0, "N*12")),
        steps=(
            StepInfo("Conv_0", "conv", "conv_3x3", ("Conv_0", "Relu_1"), "f32", (image,), (logits,), "N*24", 1, 2, 3),
        ),
        reference=(
            ReferenceCase(
                "random",
                {"N": 1, "im h": 8},
                ("reference/random/inputs/0.bin",),
                ((1, 3, 4),),
                ("reference/random/outputs/0.bin",),
                ((1, 4),),
                1e-4,
                1e-6,
            ),
        ),
    )


@pytest.fixture
def manifest() -> Manifest:
    """A manifest without members."""
    return make_manifest()


@pytest.fixture
def members() -> dict[str, bytes]:
    """Members that belong to the manifest."""
    return dict(MEMBERS)


@pytest.fixture
def artifact(tmp_path: Path, manifest: Manifest) -> Path:
    """A sound artifact."""
    path = tmp_path / "tiny.cuvil"
    write_artifact(path, manifest, MEMBERS)
    return path


@pytest.fixture
def changed(artifact: Path, tmp_path: Path) -> Callable[[Callable[[bytearray], object]], Path]:
    """A function that writes a copy of the artifact after a change to its bytes."""

    def change(edit: Callable[[bytearray], object]) -> Path:
        data = bytearray(artifact.read_bytes())
        edit(data)
        path = tmp_path / "changed.cuvil"
        path.write_bytes(data)
        return path

    return change
