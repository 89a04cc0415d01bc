"""Models that are wrong, hostile or merely odd, through the whole compiler and the command line.

Risks: a mistake in a model ends in a traceback of the compiler, in a hang, in all of the machine's memory, in code that
does not compile because of a name in it, or in half an artifact. What the front end alone must refuse is tested there;
here a model must pass, or be refused by, every stage. The probes run in a process with little memory and a time limit.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import cuvil_edge
from cuvil_edge.cli._main import run
from tests.models import chain_model, every_family_model
from tests.odd_models import EITHER, REFUSED, WORKS

pytest.importorskip("ziglang", reason="needs the compiler")

ROOT = Path(__file__).resolve().parent.parent
PROBE_SECONDS = 240
"""Far more than any of them takes, on a slow machine with an empty cache too."""


class Probe:
    """The probing process, started again after a hang."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str] = queue.Queue()

    def ask(self, name: str) -> dict[str, Any]:
        """What becomes of a model; fails when the process dies or does not answer."""
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        try:
            line = self._lines.get(timeout=PROBE_SECONDS)
        except queue.Empty:
            self.close()
            pytest.fail(f"{name}: no answer in {PROBE_SECONDS} s")
        if not line:
            status = self._process.wait(10)
            self._process = None
            pytest.fail(f"{name}: the compiler's process ended with status {status}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def _start(self) -> None:
        self._lines = lines = queue.Queue()
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), *sys.path]), PYTHONWARNINGS="error")
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", "tests.compile_probe"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
        )

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                lines.put(line)
            lines.put("")

        threading.Thread(target=read, daemon=True).start()


@pytest.fixture(scope="module")
def probe() -> Iterator[Probe]:
    process = Probe()
    yield process
    process.close()


@pytest.mark.parametrize("name", WORKS)
def test_odd_but_right_models_run_and_answer_right(name: str, probe: Probe) -> None:
    answer = probe.ask(name)
    assert answer["outcome"] == "works", answer["text"]


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_models_are_refused_in_words(name: str, probe: Probe) -> None:
    answer = probe.ask(name)
    assert answer["outcome"] == "refused", answer["text"]
    assert 10 < len(answer["text"]) < 2000


@pytest.mark.parametrize("name", EITHER)
def test_models_at_the_edge_run_or_are_refused(name: str, probe: Probe) -> None:
    answer = probe.ask(name)
    assert answer["outcome"] in ("works", "refused"), answer["text"]


@pytest.mark.parametrize("kind", ["damaged", "mutated"])
@pytest.mark.parametrize("seed", range(8))
def test_changed_models_are_planned_or_refused(kind: str, seed: int, probe: Probe) -> None:
    answer = probe.ask(f"{kind} {seed}")
    assert answer["outcome"] == "works", answer["text"]


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps([1]))


FOREIGN: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "random": lambda path: path.write_bytes(np.random.default_rng(3).bytes(5000)),
    "zip": _zip,
    "pickle": lambda path: path.write_bytes(pickle.dumps({"weight": [1.0, 2.0]}, protocol=2)),
    "tflite": lambda path: path.write_bytes(b"\x1c\0\0\0TFL3" + bytes(500)),
    "png": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(500)),
    "html": lambda path: path.write_text("<!DOCTYPE html><html><body>404 Not Found</body></html>"),
    "folder": lambda path: path.mkdir(),
    "pipe": lambda path: os.mkfifo(path),
    "missing": lambda path: None,
    "text": lambda path: path.write_text("not a model\n" * 1000),
    "zeros": lambda path: path.write_bytes(bytes(10_000)),
    "field lengths without end": lambda path: path.write_bytes(b"\xff" * 10_000),
    "groups in groups": lambda path: path.write_bytes(b"\x3b" * 100_000),
}
COMMANDS = (["check"], ["compile", "--output", "out.cuvil"], ["run"], ["deploy", "--board", "raspberry-pi-5"])


def _fails_in_words(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The one error that a command prints; it must not be an internal one, and nothing may be left behind."""
    before = sorted(folder.iterdir())
    status = run(arguments, {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]})
    printed = capsys.readouterr()
    assert status in (1, 2), printed.err
    assert "Traceback" not in printed.err
    assert "internal error" not in printed.err
    assert printed.out == "" or arguments[0] == "deploy", "deploy says first where it will run"
    assert printed.err.count("error") >= 1
    assert sorted(folder.iterdir()) == before
    return printed.err


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("kind", FOREIGN)
def test_files_that_are_no_models(kind: str, command: list[str], tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    FOREIGN[kind](tmp_path / "model.onnx")
    text = _fails_in_words([command[0], "model.onnx", *command[1:]], tmp_path, capsys)
    assert "model.onnx" in text


def test_a_model_cut_off_anywhere(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = every_family_model().SerializeToString()
    for length in [*range(0, 64, 7), *range(64, len(data), len(data) // 60), len(data) - 1]:
        (tmp_path / "model.onnx").write_bytes(data[:length])
        _fails_in_words(["compile", "model.onnx", "-o", "out.cuvil"], tmp_path, capsys)


@pytest.mark.parametrize("place", ["parent", "absolute", "soft link", "linked folder", "hard link", "pipe", "short"])
def test_external_data_from_elsewhere_is_never_read(place: str, tmp_path: Path, capsys, monkeypatch) -> None:
    """A model from the network must not put a file of the user into an artifact that is sent to a device."""
    folder = tmp_path / "model"
    folder.mkdir()
    monkeypatch.chdir(folder)
    onnx.save(every_family_model(), "model.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    secret = tmp_path / "secret"
    secret.write_bytes((folder / "w.bin").read_bytes())
    (folder / "w.bin").unlink()
    location = "w.bin"
    if place == "parent":
        location = "../secret"
    elif place == "absolute":
        location = str(secret)
    elif place == "soft link":
        (folder / "w.bin").symlink_to(secret)
    elif place == "linked folder":
        (folder / "sub").symlink_to(tmp_path)
        location = "sub/secret"
    elif place == "hard link":
        os.link(secret, folder / "w.bin")
    elif place == "pipe":
        os.mkfifo(folder / "w.bin")
    else:
        (folder / "w.bin").write_bytes(secret.read_bytes()[:-1])
    model = onnx.load("model.onnx", load_external_data=False)
    for tensor in model.graph.initializer:
        for entry in tensor.external_data:
            entry.value = location if entry.key == "location" else entry.value
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    assert "external data" in _fails_in_words(["compile", "model.onnx", "-o", "out.cuvil"], folder, capsys)


@pytest.mark.parametrize("name", ["my model (1)", "modèle", "输入", ".hidden", "-x", "a" * 200, "100%", "$HOME;ls"])
def test_a_file_may_have_any_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.onnx"
    path.write_bytes(chain_model().SerializeToString())
    artifact = cuvil_edge.compile(path).save(tmp_path / "out.cuvil")
    with cuvil_edge.InferenceContext(artifact) as context:
        assert context.run({"x": np.zeros((1, 5, 2), np.float32)})["y"].shape == (1, 2, 5)


def test_ranges_of_dimensions_that_do_not_fit(tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.onnx").write_bytes(chain_model().SerializeToString())
    for dim in ("K=3", "N=-1", "N=9..3", "N=a", "N", "N=1..8:0", "N=99999999999999999999", "N=5..6:4"):
        assert dim.split("=")[0] in _fails_in_words(["compile", "model.onnx", "--dim", dim], tmp_path, capsys)
