"""This machine under qemu-user as the device: right answers and executed instructions, never times."""

from __future__ import annotations

import dataclasses
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from cuvil_edge.errors import UnsupportedError
from cuvil_edge.remote.transports._base import RemoteProcess
from cuvil_edge.remote.transports.local import LocalTransport
from cuvil_edge.target.cpu import cpu_names, load_cpu

QEMU = "qemu-aarch64"
_ELF_MACHINE_AARCH64 = 183


def emulated_cpu(cpu: str) -> str:
    """The CPU that qemu emulates for the CPU of a target (``cortex_a72-aes-sha2``): its nearest, else ``max``."""
    name = re.split(r"[+-]", cpu)[0]
    return (load_cpu(name).qemu or "max") if name in cpu_names() else "max"


def find_qemu() -> Path:
    """The emulator on this machine.

    Raises:
        UnsupportedError: it is not installed.
    """
    found = shutil.which(QEMU) or shutil.which(f"{QEMU}-static")
    if found is None:
        raise UnsupportedError(
            "the emulator is not installed",
            thing=QEMU,
            hint="install it (Debian, Ubuntu: apt-get install qemu-user), or give a device with --host",
        )
    return Path(found)


def exit_program() -> bytes:
    """The smallest program for ARM64 Linux: ``exit(0)``."""
    address = 0x400000
    code = struct.pack("<III", 0xD2800000, 0xD2800BA8, 0xD4000001)  # mov x0, 0; mov x8, 93 (exit); svc 0
    size = 64 + 56 + len(code)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = ident + struct.pack(
        "<HHIQQQIHHHHHH", 2, _ELF_MACHINE_AARCH64, 1, address + 120, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    return header + struct.pack("<IIQQQQQQ", 1, 5, 0, address, address, size, size, 0x1000) + code


def is_aarch64_program(path: Path) -> bool:
    """Whether ``path`` is an ELF program for 64-bit ARM."""
    try:
        with path.open("rb") as handle:
            head = handle.read(20)
    except OSError:
        return False
    return head[:6] == b"\x7fELF\x02\x01" and struct.unpack_from("<H", head, 18)[0] == _ELF_MACHINE_AARCH64


@dataclass
class EmulatorTransport(LocalTransport):
    """Runs ARM64 programs under qemu-user and everything else here. ``cpu`` as ``qemu-aarch64 -cpu help`` lists it."""

    kind: ClassVar[str] = "emulator"
    unit: ClassVar[str] = "instructions"

    label: str = "emulator"
    cpu: str = "max"
    qemu: Path | None = None
    plugin_arguments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.qemu = self.qemu or find_qemu()
        self.home.mkdir(parents=True, exist_ok=True)

    @property
    def known_facts(self) -> Mapping[str, object]:
        """The emulated CPU's architecture; nothing of this machine's clocks and sensors is the device's."""
        hidden = ("cpu_features", "cpu_clusters", "governor", "clocks", "temperature", "throttling", "power_mode")
        return MappingProxyType({"architecture": "aarch64", "emulated": True, **dict.fromkeys(hidden)})

    def command(self, argv: Sequence[str]) -> list[str]:
        """``argv`` under the emulator when its program is for ARM64."""
        if "/" in argv[0] and is_aarch64_program(Path(argv[0])):
            return [str(self.qemu), "-cpu", self.cpu, *self.plugin_arguments, *argv]
        return list(argv)

    def with_plugin(self, plugin: Path, output: Path) -> EmulatorTransport:
        """The same emulator with a TCG plugin that writes to ``output``.

        Raises:
            UnsupportedError: paths with a comma, which qemu's option syntax cannot carry.
        """
        if "," in f"{plugin}{output}":
            raise UnsupportedError("qemu cannot take a plugin whose path has a comma", thing=f"{plugin} {output}")
        arguments = ("-plugin", f"file={plugin},output={output}")
        return dataclasses.replace(self, plugin_arguments=arguments)

    def plugin_fault(self, plugin: Path) -> str | None:
        """Why this qemu cannot load ``plugin``, None when it can (a static qemu cannot load any)."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "nothing"
            program.write_bytes(exit_program())
            program.chmod(0o755)
            command = [str(self.qemu), "-plugin", f"file={plugin},output={folder}/counts", str(program)]
            try:
                done = subprocess.run(
                    command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False, text=True
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return str(error)
        words = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
        return None if done.returncode == 0 else words[0][:300]

    def start_counting(self, argv: Sequence[str], directory: str, plugin: Path, output: Path) -> RemoteProcess:
        """``start`` with ``plugin`` loaded."""
        return self.with_plugin(plugin, output).start(argv, directory=directory)
