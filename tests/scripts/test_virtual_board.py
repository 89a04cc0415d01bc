from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "virtual_board"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("virtual_board_script", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


def test_is_a_program() -> None:
    assert SCRIPT.stat().st_mode & stat.S_IXUSR


@pytest.mark.parametrize("arguments", [(), ("start",), ("start", "vax"), ("start", "busybox", "--port", "70000")])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert call(*arguments).returncode == 2


def test_nothing_runs_in_an_empty_folder(tmp_path: Path) -> None:
    done = call("status", "--root", str(tmp_path))
    assert (done.returncode, json.loads(done.stdout)) == (1, [])
    stopped = call("stop", "--root", str(tmp_path))
    assert (stopped.returncode, json.loads(stopped.stdout)) == (0, {"stopped": []})


def test_state_of_a_process_that_is_gone_or_another_is_not_believed(script: ModuleType, tmp_path: Path) -> None:
    state = {"pid": os.getpid(), "start_ticks": script.start_ticks(os.getpid())}
    (tmp_path / "board.json").write_text(json.dumps(state))
    assert script.read_state(tmp_path) == state
    (tmp_path / "board.json").write_text(json.dumps({**state, "start_ticks": 1}))
    assert script.read_state(tmp_path) is None
    for text in ("", "[]", "{}", '{"pid": "1"}', "null"):
        (tmp_path / "board.json").write_text(text)
        assert script.read_state(tmp_path) is None


def test_programs_with_a_loader_are_not_static(script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "static").write_bytes(script.probe_program())
    (tmp_path / "cut").write_bytes(script.probe_program()[:60])
    assert script.is_static_elf(tmp_path / "static")
    assert not script.is_static_elf(Path(sys.executable).resolve()) or os.name != "posix"
    assert not script.is_static_elf(tmp_path / "cut")
    assert not script.is_static_elf(tmp_path / "missing")


def test_own_processes_are_found_and_ended(script: ModuleType) -> None:
    process = subprocess.Popen(["sh", "-c", "sleep 60 & sleep 60 & wait"], start_new_session=True)
    while len(script.descendants(process.pid)) < 2:
        assert process.poll() is None
    below = script.descendants(process.pid)
    script.end_processes(process.pid)
    assert all(script.start_ticks(pid) is None for pid in [process.pid, *below])


def test_root_with_something_mounted_is_not_removed(script: ModuleType) -> None:
    with pytest.raises(script.Failed, match="still mounted"):
        script.remove_tree(Path("/proc"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may")
def test_without_root_it_says_so_with_its_own_status(tmp_path: Path) -> None:
    done = call("start", "busybox", "--root", str(tmp_path))
    assert done.returncode == 3
    assert "emulator" in done.stderr


@pytest.mark.cross
def test_probe_counts_its_arguments(script: ModuleType, tmp_path: Path, qemu: str) -> None:
    program = tmp_path / "probe"
    program.write_bytes(script.probe_program())
    program.chmod(0o755)
    assert subprocess.run([qemu, str(program)], check=False, timeout=60).returncode == 42
    assert subprocess.run([qemu, str(program), "more"], check=False, timeout=60).returncode == 43


@pytest.mark.board
@pytest.mark.root
def test_start_twice_is_one_board_and_stop_leaves_nothing(tmp_path: Path) -> None:
    first = call("start", "busybox", "--root", str(tmp_path))
    if first.returncode == 3:
        pytest.skip(first.stderr)
    assert first.returncode == 0, first.stderr
    try:
        board = json.loads(first.stdout)
        assert json.loads(call("start", "busybox", "--root", str(tmp_path)).stdout) == board
        assert json.loads(call("status", "--root", str(tmp_path)).stdout) == [board]
        assert call("start", "busybox", "--root", str(tmp_path), "--port", "1").returncode == 1
        ssh = ["ssh", "-F", board["ssh_config"], board["ssh_host"], "uname -m; ls /proc 2>&1; command -v python3"]
        answer = subprocess.run(ssh, capture_output=True, text=True, timeout=60, check=False).stdout
        assert answer.splitlines()[0] == "aarch64"
        assert "python" not in answer
    finally:
        stopped = call("stop", "--root", str(tmp_path))
    assert json.loads(stopped.stdout) == {"stopped": ["busybox"]}
    assert call("status", "--root", str(tmp_path)).returncode == 1
