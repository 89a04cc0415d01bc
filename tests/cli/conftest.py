"""Running the command line in this process, with an environment of the test's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.cli._main import run
from cuvil_edge.profile.records import Profile, ProfileStep, ProfileTensor


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    @property
    def error(self) -> dict[str, Any]:
        """The error of a command that failed with ``--json``."""
        assert self.json["ok"] is False
        assert self.json["exit_status"] == self.status != 0
        error = self.json["error"]
        assert isinstance(error, dict)
        return error


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A function that runs ``cuvil-edge`` with some arguments, in an empty folder and with an empty home."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def call(*arguments: object, environment: dict[str, str] | None = None) -> Outcome:
        capsys.readouterr()
        values = {"HOME": str(tmp_path / "home"), **(environment or {})}
        status = run([str(argument) for argument in arguments], values)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


def make_profile(scale: int = 1, **changes: Any) -> Profile:
    """Two steps of 1 ms and 2 ms, times ``scale``, in ten runs."""
    milliseconds = 1_000_000 * scale
    tensor = ProfileTensor("x", "f32", (1, 8))
    steps = tuple(
        ProfileStep(
            name=name,
            op="conv",
            kernel=f"conv_1x1_{name}",
            layers=(name,),
            dtype="f32",
            inputs=(tensor,),
            outputs=(tensor,),
            flops=1000,
            bytes_read=64,
            bytes_written=32,
            weights_bytes=0,
        )
        for name in ("first", "second")
    )
    values: dict[str, Any] = {
        "artifact_sha256": "ab" * 32,
        "model": "tiny",
        "target": "host",
        "board": "host",
        "device": "this machine",
        "transport": "local",
        "unit": "ns",
        "threads": 1,
        "created_unix_ns": 1_767_225_600_000_000_000,
        "steps": steps,
        "run_wall_ns": (3 * milliseconds + 10,) * 10,
        "step_start_ns": ((0, milliseconds),) * 10,
        "step_duration_ns": ((milliseconds, 2 * milliseconds),) * 10,
    }
    return Profile(**{**values, **changes})


@pytest.fixture
def run_folder(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a run folder and returns it."""

    def write(name: str = "run", scale: int = 1, **changes: Any) -> Path:
        folder = tmp_path / name
        make_profile(scale, **changes).save(folder)
        return folder

    return write
