from __future__ import annotations

import struct
from pathlib import Path

import pytest

from cuvil_edge.errors import UnsupportedError
from cuvil_edge.remote.transports import emulator
from cuvil_edge.remote.transports.emulator import (
    EmulatorTransport,
    emulated_cpu,
    exit_program,
    find_qemu,
    is_aarch64_program,
)


def test_cpu_is_the_nearest_that_qemu_has() -> None:
    assert emulated_cpu("cortex_a53") == "cortex-a53"
    assert emulated_cpu("cortex_a72-aes-sha2") == "cortex-a72"
    assert emulated_cpu("cortex_a76+dotprod") == "cortex-a76"
    assert emulated_cpu("of_the_future") == "max"


def test_only_arm_programs_are_emulated(tmp_path: Path) -> None:
    arm, riscv = tmp_path / "arm", tmp_path / "riscv"
    arm.write_bytes(exit_program())
    riscv.write_bytes(exit_program().replace(struct.pack("<H", 183), struct.pack("<H", 243), 1))
    transport = EmulatorTransport(home=tmp_path, cpu="cortex-a72", qemu=Path("/q"))
    assert transport.command([str(arm), "x"]) == ["/q", "-cpu", "cortex-a72", str(arm), "x"]
    assert transport.command([str(riscv), "x"]) == [str(riscv), "x"]
    assert transport.command(["sh", "-c", "true"]) == ["sh", "-c", "true"]
    assert not is_aarch64_program(tmp_path / "missing")


def test_time_is_never_what_it_measures(tmp_path: Path) -> None:
    transport = EmulatorTransport(home=tmp_path, qemu=Path("/q"))
    assert transport.unit == "instructions"
    assert transport.known_facts["architecture"] == "aarch64"
    assert transport.known_facts["emulated"] is True
    assert transport.known_facts["clocks"] is None


def test_missing_qemu_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulator.shutil, "which", lambda _name: None)
    with pytest.raises(UnsupportedError, match="apt-get install qemu-user"):
        find_qemu()


def test_comma_in_a_path_is_refused(tmp_path: Path) -> None:
    transport = EmulatorTransport(home=tmp_path, qemu=Path("/q"))
    with pytest.raises(UnsupportedError, match="comma"):
        transport.with_plugin(tmp_path / "a,b.so", tmp_path / "out")


@pytest.mark.cross
def test_arm_program_runs(tmp_path: Path) -> None:
    transport = EmulatorTransport(home=tmp_path)
    transport.put(exit_program(), "nothing")
    transport.run(["chmod", "755", "nothing"])
    assert transport.run(["./nothing"]).exit_status == 0


@pytest.mark.cross
def test_plugin_that_is_none_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "plugin.so").write_text("not a library")
    fault = EmulatorTransport(home=tmp_path).plugin_fault(tmp_path / "plugin.so")
    assert fault
    assert "plugin" in fault
