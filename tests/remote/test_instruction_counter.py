from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cuvil_edge.config import Config
from cuvil_edge.errors import CompileError, RemoteCommandError
from cuvil_edge.remote import instruction_counter
from cuvil_edge.remote.instruction_counter import plugin_path, read_counts
from cuvil_edge.remote.transports.emulator import EmulatorTransport

# Loops of k * 1000 rounds between marks, with other system calls that must not count as marks.
PROGRAM = """
#include <unistd.h>
int main(void) {
  volatile int sum = 0;
  for (int k = 1; k <= 3; ++k) {
    lseek(-77, k, SEEK_SET);
    for (int i = 0; i < k * 1000; ++i) sum += i;
    lseek(-1, 9, SEEK_SET);
  }
  lseek(-77, 0, SEEK_SET);
  for (int i = 0; i < 100000; ++i) sum += i;
  return 0;
}
"""


def test_counts_of_each_step(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    file.write_text("1 10\n2 20\n1 5\n")
    assert read_counts(file, 2, "emulator") == (15, 20)


@pytest.mark.parametrize("text", ["", "1 10\n", "1 10\n3 5\n", "garbage\n", "1 -10\n2 5\n", "\xff"])
def test_missing_counts_are_an_error_and_not_zero(tmp_path: Path, text: str) -> None:
    file = tmp_path / "counts"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(RemoteCommandError, match="did not count every step"):
        read_counts(file, 2, "emulator")
    with pytest.raises(RemoteCommandError):
        read_counts(tmp_path / "missing", 2, "emulator")


def test_no_compiler_is_told(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instruction_counter, "compilers", lambda: [["/no/such/compiler"], ["false"]])
    with pytest.raises(CompileError, match="pip install ziglang") as caught:
        plugin_path(config)
    assert len(caught.value.details) == 2
    assert not list((config.cache_dir / "emulator").iterdir())


def test_cache_that_cannot_be_written_is_told(config: Config, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match="cannot build"):
        plugin_path(dataclasses.replace(config, cache_dir=tmp_path / "file"))


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_built_once(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instruction_counter, "compilers", lambda: [["cc", "-Wall", "-Wextra", "-Werror"]])
    path = plugin_path(config)
    monkeypatch.setattr(instruction_counter, "compilers", list)
    assert plugin_path(config) == path


@pytest.mark.cross
def test_instructions_between_marks_repeat_and_fit_the_work(config: Config, tmp_path: Path) -> None:
    plugin = plugin_path(config)
    emulator = EmulatorTransport(home=tmp_path)
    if (fault := emulator.plugin_fault(plugin)) is not None:
        pytest.skip(f"this qemu takes no plugins: {fault}")
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-musl", "-static", "-O1"]
    subprocess.run([*zig, str(source), "-o", str(program)], check=True, timeout=300)
    seen = []
    for run in range(2):
        output = tmp_path / f"counts-{run}"
        done = emulator.with_plugin(plugin, output).run(["./program"])
        assert done.exit_status == 0, done.error_text
        seen.append(read_counts(output, 3, "emulator"))
    assert seen[0] == seen[1]
    one, two, three = seen[0]
    rounds = two - one
    assert three - two == rounds
    assert rounds % 1000 == 0
    assert one - rounds < 200
