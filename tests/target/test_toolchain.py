"""Toolchains: every target has its two, and a compiler that is not there is named with the remedy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cuvil_edge.board.board import board_names, load_board
from cuvil_edge.errors import ConfigError
from cuvil_edge.target.isa import COMPILERS
from cuvil_edge.target.toolchain import load_toolchain, toolchain_triples


@pytest.mark.parametrize("triple", toolchain_triples())
@pytest.mark.parametrize("compiler", COMPILERS)
def test_every_file_has_every_compiler(triple: str, compiler: str) -> None:
    toolchain = load_toolchain(triple, compiler)
    assert triple.startswith(f"{toolchain.arch}-linux-{toolchain.libc}")
    assert triple.endswith(toolchain.libc_version or toolchain.libc)
    assert toolchain.pins_libc == (compiler == "zig")
    assert toolchain.is_static == (toolchain.libc == "musl")
    assert not any("{" in word for word in (*toolchain.command, *toolchain.archive))


def test_zig_runs_in_this_python_without_a_shell() -> None:
    toolchain = load_toolchain("aarch64-linux-musl")
    assert toolchain.command == (sys.executable, "-m", "ziglang", "c++", "-target", "aarch64-linux-musl")


@pytest.mark.parametrize("name", board_names())
def test_every_board_has_its_toolchains(name: str) -> None:
    target = load_board(name).target()
    for triple in (target.shared_triple, target.static_triple):
        toolchain = load_toolchain(triple)
        assert toolchain.arch == target.arch
        assert toolchain.cpu_arguments(target) == (f"-mcpu={target.cpu}",)


def test_libraries_need_no_newer_glibc_than_a_board_has() -> None:
    for name in board_names():
        board = load_board(name)
        wanted = load_toolchain(board.target().shared_triple).libc_version
        assert board.system is not None
        assert wanted is not None
        if name != "host":
            assert tuple(map(int, wanted.split("."))) <= tuple(map(int, board.system.glibc.split(".")))


def test_cpu_arguments_of_other_compilers() -> None:
    target = load_board("raspberry-pi-4").target()
    assert load_toolchain(target.shared_triple, "gcc").cpu_arguments(target) == ("-mcpu=cortex-a72",)
    assert load_toolchain(target.shared_triple, "clang").cpu_arguments(target) == ("-mcpu=cortex-a72+nocrypto",)


def test_unknown_triples_and_compilers() -> None:
    with pytest.raises(ConfigError, match="there is no such toolchain"):
        load_toolchain("riscv64-linux-musl")
    with pytest.raises(ConfigError, match="no such compiler for aarch64-linux-musl"):
        load_toolchain("aarch64-linux-musl", "msvc")


def test_a_compiler_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (
        load_toolchain("aarch64-linux-musl", "gcc").missing() == "the program aarch64-linux-musl-g++ is not installed"
    )
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install ziglang" in str(load_toolchain("aarch64-linux-musl").missing())


@pytest.mark.cross
def test_a_static_program_for_the_first_raspberry_pis_runs_there(tmp_path: Path, qemu: str) -> None:
    target = load_board("raspberry-pi-3").target()
    toolchain = load_toolchain(target.static_triple)
    (tmp_path / "x.c").write_text("int main(void) { return 42; }\n")
    # C, not C++, and the processor's flags only where code is made: zig builds its C++ library, and musl, once for each
    # set of flags that it links with, which takes a minute.
    command = [word.replace("c++", "cc") for word in toolchain.command]
    names = {name: str(tmp_path / name) for name in ("x.c", "x.o", "x")}
    for step in (
        [*command, *toolchain.cpu_arguments(target), "-O2", "-c", names["x.c"], "-o", names["x.o"]],
        [*command, "-static", names["x.o"], "-o", names["x"]],
    ):
        done = subprocess.run(step, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
    assert target.qemu_cpu is not None
    assert (
        subprocess.run([qemu, "-cpu", target.qemu_cpu, str(tmp_path / "x")], timeout=60, check=False).returncode == 42
    )
