"""What all tests share: the need-marks, which skip with a reason where the need is missing, and common fixtures."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.config import Config
from tests.golden_models import MODELS

ROOT = Path(__file__).resolve().parent.parent
NEEDS = {
    "cross": "cross-compiles with zig and runs the result under qemu-user",
    "root": "needs to be root (chroot, mount)",
    "board": "needs the virtual board over SSH: CUVIL_TEST_BOARDS=busybox,debian",
    "peers": "needs another inference engine; peers('name') asks for that Python package, peers() for onnxruntime",
    "golden": "real models with known answers: CUVIL_TEST_MODELS=<folder>; takes minutes",
}
_START_SECONDS = 1200
_COMMAND_SECONDS = 120


def pytest_configure(config: pytest.Config) -> None:
    """Registers the need-marks."""
    for name, meaning in NEEDS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips each test whose need is missing, and says what is missing."""
    for item in items:
        for name in NEEDS:
            for mark in item.iter_markers(name):
                if reason := missing_need(name, tuple(str(each) for each in mark.args)):
                    item.add_marker(pytest.mark.skip(reason=reason))


@functools.cache
def missing_need(name: str, arguments: tuple[str, ...] = ()) -> str | None:
    """Why tests with this mark cannot run here, or None."""
    if name == "cross":
        return _missing_cross()
    if name == "golden":
        return None if MODELS.is_dir() else f"the models are not here ({MODELS}; set CUVIL_TEST_MODELS)"
    if name == "root":
        return None if os.geteuid() == 0 else "needs to be root"
    if name == "board":
        return None if _board_kinds() else "no virtual board asked for (set CUVIL_TEST_BOARDS=busybox,debian)"
    packages = [package for package in arguments or ("onnxruntime",) if importlib.util.find_spec(package) is None]
    return f"needs the Python package {', '.join(packages)}" if packages else None


def _missing_cross() -> str | None:
    if importlib.util.find_spec("ziglang") is None:
        return "needs the Python package ziglang"
    if qemu_program() is None:
        return "needs qemu-aarch64 (apt-get install qemu-user)"
    return None


def qemu_program() -> str | None:
    """The program that runs ARM64 programs on this machine, if there is one."""
    return shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")


def _board_kinds() -> tuple[str, ...]:
    return tuple(kind for kind in os.environ.get("CUVIL_TEST_BOARDS", "").split(",") if kind)


@pytest.fixture(scope="session")
def project_root() -> Path:
    """The top folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def qemu() -> str:
    """Path of qemu-aarch64; skips where there is none."""
    program = qemu_program()
    if program is None:
        pytest.skip("needs qemu-aarch64 (apt-get install qemu-user)")
    return program


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Settings with a cache and a configuration folder of the test's own, neither of which exists yet."""
    return Config(cache_dir=tmp_path / "cache", config_dir=tmp_path / "config", jobs=1)


@pytest.fixture(scope="session")
def virtual_board() -> Iterator[Callable[[str], dict[str, Any]]]:
    """A function that makes sure that a virtual board ("busybox", "debian") runs and returns how to reach it.

    Boards that were not running before are stopped at the end.
    """
    script = ROOT / "scripts" / "virtual_board"
    started: list[str] = []

    def call(command: str, kind: str, seconds: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(script), command, kind],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def ensure(kind: str) -> dict[str, Any]:
        if kind not in _board_kinds():
            pytest.skip(f"the virtual board {kind} was not asked for (CUVIL_TEST_BOARDS)")
        was_running = call("status", kind, _COMMAND_SECONDS).returncode == 0
        done = call("start", kind, _START_SECONDS)
        if done.returncode == 3:
            pytest.skip(f"this machine does not allow virtual boards: {done.stderr.strip()[-300:]}")
        assert done.returncode == 0, done.stderr
        if not was_running and kind not in started:
            started.append(kind)
        reach: dict[str, Any] = json.loads(done.stdout)
        return reach

    yield ensure
    for kind in started:
        call("stop", kind, _COMMAND_SECONDS)
