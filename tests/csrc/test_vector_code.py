"""The C++ tests of csrc/simd and of the kernels built on it, for each instruction set, with sanitizers and on arm64."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.kernels.harness import CSRC, Build, arm64_build, native_build

HERE = Path(__file__).parent
PROGRAMS = sorted(HERE.glob("simd/*_test.cc")) + sorted(HERE.glob("kernels/*/*_test.cc"))
TIMEOUT_SECONDS = 600

programs = pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)


def run_program(source: Path, build: Build | str, folder: Path) -> None:
    """Build one test for an instruction set and run it."""
    if isinstance(build, str):
        pytest.skip(build)
    program = folder / source.stem
    command = [*build.command, *build.flags, f"-DCUVIL_SIMD={build.simd}", f"-I{CSRC}", str(source), "-o", str(program)]
    done = subprocess.run([*command, *build.link], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    assert "warning:" not in done.stderr, done.stderr[:4000]
    done = subprocess.run(
        [*build.runner, str(program)], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


@programs
@pytest.mark.parametrize("isa", ["scalar", "x86_64_avx2", "x86_64_avx512"])
def test_on_this_machine(source: Path, isa: str, tmp_path: Path) -> None:
    run_program(source, native_build(isa), tmp_path)


@pytest.mark.parametrize("source", [path for path in PROGRAMS if path.stem != "math_test"], ids=lambda path: path.stem)
def test_under_sanitizers(source: Path, tmp_path: Path) -> None:
    run_program(source, native_build("x86_64_avx2", sanitize=True), tmp_path)


@pytest.mark.cross
@programs
def test_on_emulated_arm64(source: Path, tmp_path: Path) -> None:
    run_program(source, arm64_build(), tmp_path)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 5
