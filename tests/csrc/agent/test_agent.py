"""The agent, spoken to through its pipes: the fake model linked with the sources of the agent, as the compiler does it.

On this machine it is built with the sanitizers of the system's compiler; the cross test builds the static program.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
CSRC = ROOT / "csrc"
MODEL = ROOT / "tests" / "csrc" / "runtime" / "fake_model.c"
WEIGHTS = np.array([1, 2, 3, 4], np.float32)
TIMEOUT_SECONDS = 60
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti", "-I", str(CSRC)]


def sources() -> list[str]:
    """What csrc/agent/main.cc says the agent is made of."""
    return [str(path) for folder in ("base", "runtime", "agent") for path in sorted((CSRC / folder).glob("*.cc"))]


class Builder:
    """Compiles the agent once and links it with any number of fake models.

    Sources are compiled one by one, because zig wants -nostdlib++ only for linking.
    """

    def __init__(self, compiler: Sequence[str], folder: Path, flags: Sequence[str], link: Sequence[str]) -> None:
        self.compiler, self.folder, self.flags, self.link = list(compiler), folder, list(flags), list(link)
        self.programs: dict[tuple[str, ...], Path] = {}
        jobs = [
            [*compiler, *FLAGS, *flags, "-c", path, "-o", str(folder / (Path(path).stem + ".o"))] for path in sources()
        ]
        for batch in (jobs[i : i + 2] for i in range(0, len(jobs), 2)):
            running = [subprocess.Popen(job, stderr=subprocess.PIPE, text=True) for job in batch]
            for process in running:
                _, errors = process.communicate(timeout=300)
                assert process.returncode == 0, errors
        self.objects = sorted(str(path) for path in folder.glob("*.o"))

    def program(self, *defines: str) -> Path:
        """The agent with a fake model; ``defines`` are preprocessor definitions for the model."""
        if defines not in self.programs:
            model = self.folder / f"model{len(self.programs)}.o"
            output = self.folder / f"agent{len(self.programs)}"
            c_compiler = [{"c++": "cc", "g++": "gcc"}.get(word, word) for word in self.compiler]
            source = [*self.flags, *defines, "-I", str(CSRC), "-c", str(MODEL), "-o", str(model)]
            subprocess.run([*c_compiler, *source], check=True, timeout=300)
            objects = [*self.objects, str(model), "-o", str(output)]
            subprocess.run([*self.compiler, *self.flags, *self.link, *objects], check=True, timeout=600)
            self.programs[defines] = output
        return self.programs[defines]


@pytest.fixture(scope="session")
def host_build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """The agent for this machine; arguments are preprocessor definitions for the fake model."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    sanitize = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    builder = Builder(["g++"], tmp_path_factory.mktemp("agent"), sanitize, ["-lpthread"])
    return lambda *defines: [str(builder.program(*defines))]


@pytest.fixture(scope="session")
def cross_agent(tmp_path_factory: pytest.TempPathFactory, qemu: str) -> list[str]:
    """The static ARM64 program, run by qemu."""
    target = ["-target", "aarch64-linux-musl", "-Os", "-ffunction-sections", "-fdata-sections"]
    link = ["-static", "-nostdlib++", "-Wl,--gc-sections", "-s"]
    zig = [sys.executable, "-m", "ziglang", "c++"]
    program = Builder(zig, tmp_path_factory.mktemp("cross"), target, link).program()
    assert program.stat().st_size < 1 << 20
    return [qemu, "-cpu", "cortex-a72", str(program)]


class Agent:
    """A running agent."""

    def __init__(self, command: Sequence[str], folder: Path, *arguments: str) -> None:
        (folder / "weights.bin").write_bytes(WEIGHTS.tobytes())
        self.folder = folder
        self.process = subprocess.Popen(
            [*command, "--weights", "weights.bin", *arguments],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.ready = self.read()
        self.next_id = 0

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read().decode() if self.process.stderr else ""
        reply: dict[str, Any] = json.loads(line)
        return reply

    def raw(self, line: bytes) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return self.read()

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        self.next_id += 1
        reply = self.raw(json.dumps({"id": self.next_id, "cmd": command, **arguments}).encode())
        assert reply["id"] == self.next_id
        return reply

    def close(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            code = self.process.wait(TIMEOUT_SECONDS)
            assert self.process.stderr is not None
            errors = self.process.stderr.read().decode()
            assert "Sanitizer" not in errors, errors
            return code
        finally:
            self.process.kill()
            for stream in (self.process.stdout, self.process.stderr):
                if stream is not None:
                    stream.close()


@pytest.fixture
def start(host_build: Callable[..., list[str]], tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    """Starts agents on this machine and ends them."""
    agents: list[Agent] = []

    def begin(*arguments: str) -> Agent:
        agents.append(Agent(host_build(), tmp_path, *arguments))
        return agents[-1]

    yield begin
    for agent in agents:
        if agent.process.poll() is None:
            agent.close()


def write_inputs(folder: Path, rows: int, row: int = 1) -> tuple[list[dict[str, Any]], list[np.ndarray]]:
    """Input files of the fake model, and its right answers."""
    random = np.random.default_rng(rows)
    image = random.standard_normal((rows, 4)).astype(np.float32)
    scale = random.standard_normal(rows).astype(np.float32)
    image.tofile(folder / "image.bin")
    scale.tofile(folder / "scale.bin")
    np.array(row, np.int64).tofile(folder / "row.bin")
    relu = np.maximum(image * WEIGHTS * scale[:, None], 0)
    sums = relu.sum(axis=1)
    inputs = [
        {"path": "image.bin", "shape": [rows, 4]},
        {"path": "scale.bin", "shape": [rows]},
        {"path": "row.bin", "shape": []},
    ]
    return inputs, [relu[min(max(row, 0), rows - 1)], sums, sums.sum(keepdims=True)]


def write_expected(folder: Path, answers: Sequence[np.ndarray]) -> list[dict[str, Any]]:
    expected = []
    for index, answer in enumerate(answers):
        answer.astype(np.float32).tofile(folder / f"expected{index}.bin")
        expected.append({"path": f"expected{index}.bin", "shape": list(answer.shape)})
    return expected


def check_whole_conversation(agent: Agent) -> None:
    """Everything that a deployment asks for."""
    folder = agent.folder
    assert agent.ready["event"] == "ready"
    assert agent.ready["protocol"] == 1
    assert (agent.ready["model"], agent.ready["target"]) == ("fake", "test")
    assert agent.ready["threads"] == 2
    described = agent.ask("describe")
    assert [tensor["shape"] for tensor in described["inputs"]] == [[-1, 4], [-1], []]
    assert described["steps"][0] == {"name": "Mul_0", "kernel": "scale_rows"}
    assert described["symbols"] == [{"name": "N", "min": 1, "max": 64, "multiple_of": 1}]
    for rows in (1, 7, 64):
        inputs, answers = write_inputs(folder, rows, rows // 2)
        reply = agent.ask("run", inputs=inputs, outputs=["o0", "o1", "o2"])
        assert reply["ok"]
        assert reply["output_shapes"] == [[4], [rows], [1]]
        assert reply["duration_ns"] > 0
        assert reply["peak_rss_bytes"] > 0
        for index, answer in enumerate(answers):
            np.testing.assert_allclose(np.fromfile(folder / f"o{index}", np.float32), answer, rtol=1e-5)
        tolerance = {"relative_tolerance": 1e-5, "absolute_tolerance": 0}
        expected = write_expected(folder, answers)
        assert agent.ask("verify", inputs=inputs, expected=expected, **tolerance)["passed"] is True
        answers[1][-1] += 1
        wrong = agent.ask("verify", inputs=inputs, expected=write_expected(folder, answers), **tolerance)
        assert wrong["passed"] is False
        assert [output["mismatches"] for output in wrong["outputs"]] == [0, 1, 0]
        assert wrong["outputs"][1]["max_abs_error"] == pytest.approx(1, rel=1e-3)
    profile = agent.ask("profile", inputs=inputs, runs=4, warmup_runs=1)
    assert profile["runs"] == len(profile["run_wall_ns"]) == len(profile["unprofiled_run_ns"]) == 4
    assert [len(row) for row in profile["step_duration_ns"]] == [5] * 4
    assert agent.ask("count", inputs=inputs)["ok"]
    assert agent.ask("quit") == {"id": agent.next_id, "ok": True}
    assert agent.process.wait(TIMEOUT_SECONDS) == 0


def test_whole_conversation(start: Callable[..., Agent]) -> None:
    check_whole_conversation(start("--threads", "2", "--check-weights"))


@pytest.mark.cross
def test_whole_conversation_on_arm64(cross_agent: list[str], tmp_path: Path) -> None:
    agent = Agent(cross_agent, tmp_path, "--threads", "2", "--check-weights")
    try:
        check_whole_conversation(agent)
        assert agent.ready["arch"] == "aarch64"
        assert "asimd" in agent.ready["features"]
    finally:
        agent.close()


@pytest.mark.cross
def test_markers_before_each_step(cross_agent: list[str], tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(WEIGHTS.tobytes())
    inputs, _ = write_inputs(tmp_path, 3)
    request = json.dumps({"id": 1, "cmd": "count", "inputs": inputs})
    command = [cross_agent[0], "-strace", *cross_agent[1:], "--weights", "weights.bin", "--threads", "2"]
    done = subprocess.run(
        command, cwd=tmp_path, input=request, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True
    )
    marks = [line.split("lseek(")[1].split(")")[0] for line in done.stderr.splitlines() if "lseek(-77" in line]
    assert marks == [f"-77,{number},SEEK_SET" for number in (1, 2, 3, 4, 5, 0)]


def test_goes_on_after_every_bad_request(start: Callable[..., Agent]) -> None:
    agent = start("--threads", "1")
    folder = agent.folder
    inputs, answers = write_inputs(folder, 5)
    (folder / "short.bin").write_bytes(b"12")
    (folder / "folder").mkdir()
    short, absent = {"path": "short.bin", "shape": [5]}, {"path": "absent.bin", "shape": [5]}
    bad: list[tuple[str, dict[str, Any], str]] = [
        ("nonsense", {}, "usage"),
        ("run", {}, "input"),
        ("run", {"inputs": inputs[:2]}, "input"),
        ("run", {"inputs": [*inputs[:1], short, *inputs[2:]]}, "input"),
        ("run", {"inputs": [*inputs[:1], absent, *inputs[2:]]}, "input"),
        ("run", {"inputs": [*inputs[:1], {"path": "folder", "shape": [5]}, *inputs[2:]]}, "input"),
        ("run", {"inputs": [*inputs[:1], {"path": 5, "shape": [5]}, *inputs[2:]]}, "usage"),
        ("run", {"inputs": [*inputs[:1], {"path": "scale.bin"}, *inputs[2:]]}, "usage"),
        ("run", {"inputs": [*inputs[:1], {"path": "scale.bin", "shape": [-1]}, *inputs[2:]]}, "usage"),
        ("run", {"inputs": [*inputs[:1], {"path": "scale.bin", "shape": [1.5]}, *inputs[2:]]}, "usage"),
        ("run", {"inputs": [*inputs[:1], {"path": "scale.bin", "shape": [2**62, 2**62]}, *inputs[2:]]}, "usage"),
        ("run", {"inputs": [*inputs[:1], {"path": "scale.bin", "shape": [5, 1]}, *inputs[2:]]}, "input"),
        ("run", {"inputs": inputs, "outputs": ["o0"]}, "usage"),
        ("run", {"inputs": inputs, "outputs": ["o0", "o1", 7]}, "usage"),
        ("run", {"inputs": inputs, "outputs": ["/nonexistent/o", "o1", "o2"]}, "runtime_failure"),
        ("verify", {"inputs": inputs, "expected": []}, "usage"),
        ("verify", {"inputs": inputs, "expected": [], "relative_tolerance": 0, "absolute_tolerance": 0}, "input"),
        ("verify", {"inputs": inputs, "expected": [], "relative_tolerance": -1, "absolute_tolerance": 0}, "usage"),
        ("profile", {"inputs": inputs, "runs": 0}, "usage"),
        ("profile", {"inputs": inputs, "runs": "many"}, "usage"),
        ("profile", {"inputs": inputs, "runs": 10**6, "warmup_runs": -1}, "usage"),
    ]
    for command, arguments, kind in bad:
        reply = agent.ask(command, **arguments)
        assert reply["ok"] is False, (command, arguments)
        assert reply["error"]["kind"] == kind, (command, arguments, reply)
        assert reply["error"]["what"]
    for line in (b"", b"nonsense", b"[]", b"{}", b'{"id":"x"}', b"\xff\xfe", b"[" * 2000, b'{"id":1,"cmd":7}'):
        reply = agent.raw(line)
        assert reply["ok"] is False
        assert reply["error"]["kind"] == "usage"
    assert agent.raw(b" " * (2 << 20))["ok"] is False
    expected = write_expected(folder, answers)
    fine = agent.ask("verify", inputs=inputs, expected=expected, relative_tolerance=1e-5, absolute_tolerance=0)
    assert fine["passed"] is True


def test_a_refused_row_is_an_error_of_the_run(start: Callable[..., Agent]) -> None:
    agent = start("--threads", "2")
    inputs, _ = write_inputs(agent.folder, 5, row=77)
    reply = agent.ask("run", inputs=inputs)
    assert reply["error"]["kind"] == "runtime_failure"
    assert "Gather_2" in reply["error"]["thing"]
    inputs, _ = write_inputs(agent.folder, 13)
    reply = agent.ask("run", inputs=inputs)
    assert reply["error"]["kind"] == "shape"
    assert "13" in reply["error"]["found"]


def test_full_disk_has_its_own_kind(start: Callable[..., Agent]) -> None:
    agent = start()
    inputs, _ = write_inputs(agent.folder, 5)
    reply = agent.ask("run", inputs=inputs, outputs=["/dev/full", "o1", "o2"])
    assert reply["error"]["kind"] == "disk_full"


def test_end_of_input_ends_it(start: Callable[..., Agent]) -> None:
    agent = start("--threads", "2")
    assert agent.close() == 0


def test_closed_output_is_not_a_signal(start: Callable[..., Agent]) -> None:
    agent = start()
    assert agent.process.stdout is not None
    assert agent.process.stdin is not None
    agent.process.stdout.close()
    agent.process.stdin.write(b'{"id":1,"cmd":"describe"}\n')
    agent.process.stdin.flush()
    assert agent.process.wait(TIMEOUT_SECONDS) == 1
    assert agent.process.returncode != -signal.SIGPIPE


def first_event(command: Sequence[str], folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [*command, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_SECONDS
    )
    return done.returncode, json.loads(done.stdout.splitlines()[0])


def test_start_failures_are_events(host_build: Callable[..., list[str]], tmp_path: Path) -> None:
    (tmp_path / "short.bin").write_bytes(b"1234")
    (tmp_path / "other.bin").write_bytes(bytes(16))
    cases = (
        ((), "usage"),
        (("--weights", "absent.bin"), "artifact"),
        (("--weights", "short.bin"), "artifact"),
        (("--weights", "other.bin", "--check-weights"), "artifact"),
        (("--weights", "other.bin", "--threads", "0"), "usage"),
        (("--weights", "other.bin", "--cpus", "8000"), "usage"),
        (("--weights", "."), "artifact"),
    )
    for arguments, kind in cases:
        code, event = first_event(host_build(), tmp_path, *arguments)
        assert code == 1, arguments
        assert event["event"] == "error"
        assert event["error"]["kind"] == kind, (arguments, event)


def test_refuses_another_machine(host_build: Callable[..., list[str]], tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(WEIGHTS.tobytes())
    features = host_build('-DFAKE_FEATURES="fpu9000 warp"')
    code, event = first_event(features, tmp_path, "--weights", "weights.bin")
    assert (code, event["error"]["kind"]) == (1, "missing_feature")
    assert event["error"]["found"] == "missing: fpu9000 warp"
    version = subprocess.run([*features, "--version"], capture_output=True, timeout=TIMEOUT_SECONDS, check=True)
    assert json.loads(version.stdout)["required_features"] == ["fpu9000", "warp"]
    arch = host_build('-DFAKE_ARCH="m68k"')
    assert first_event(arch, tmp_path, "--weights", "weights.bin")[1]["error"]["kind"] == "wrong_architecture"
    newer = host_build("-DFAKE_ABI=99")
    assert first_event(newer, tmp_path, "--weights", "weights.bin")[1]["error"]["kind"] == "artifact"


def test_hashes_files(host_build: Callable[..., list[str]], tmp_path: Path) -> None:
    data = os.urandom(200_000)
    (tmp_path / "a b.bin").write_bytes(data)
    done = subprocess.run(
        [*host_build(), "--sha256", "a b.bin", "absent"], cwd=tmp_path, capture_output=True, timeout=TIMEOUT_SECONDS
    )
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first == {"file": "a b.bin", "sha256": hashlib.sha256(data).hexdigest()}
    assert second["file"] == "absent"
    assert second["error"]["kind"] == "input"
    assert done.returncode == 1
