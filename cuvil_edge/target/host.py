"""What this machine is, read from /proc and /sys; works, with less knowledge, where they are missing."""

from __future__ import annotations

import os
import platform
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cuvil_edge.errors import UnsupportedError
from cuvil_edge.target.cluster import Cluster
from cuvil_edge.target.cpu import Cpu, find_cpu
from cuvil_edge.target.isa import ARCHITECTURES

_DEFAULT_L1D_BYTES: Final = 32 << 10
_DEFAULT_L2_BYTES: Final = 256 << 10
_AT_HWCAP: Final = 16
# arch/arm64/include/uapi/asm/hwcap.h of Linux, the bits of AT_HWCAP that an instruction set can require.
_ARM_HWCAP: Final = {
    "asimd": 1 << 1,
    "aes": 1 << 3,
    "pmull": 1 << 4,
    "sha1": 1 << 5,
    "sha2": 1 << 6,
    "crc32": 1 << 7,
    "atomics": 1 << 8,
    "fphp": 1 << 9,
    "asimdhp": 1 << 10,
    "asimdrdm": 1 << 12,
    "lrcpc": 1 << 15,
    "asimddp": 1 << 20,
}
_ARCH_NAMES: Final = {"arm64": "aarch64", "AMD64": "x86_64", "amd64": "x86_64"}


@dataclass(frozen=True)
class Host:
    """This machine: the features that all its CPUs have (sorted), their model if it is one and known, its clusters."""

    arch: str
    features: tuple[str, ...]
    cpu: Cpu | None
    clusters: tuple[Cluster, ...]


@dataclass(frozen=True)
class LogicalCpu:
    """One logical CPU as /proc/cpuinfo describes it."""

    number: int
    model: str
    features: frozenset[str]
    implementer: int | None
    part: int | None


def read_host(root: Path = Path("/"), machine: str | None = None) -> Host:
    """What this machine says about itself.

    Args:
        root: where /proc and /sys are found.
        machine: the architecture; None asks the operating system.

    Raises:
        UnsupportedError: cuvil-edge has no instruction sets for this architecture.
    """
    found = machine or platform.machine()
    arch = _ARCH_NAMES.get(found, found)
    if arch not in ARCHITECTURES:
        raise UnsupportedError(
            "this machine's architecture is not supported", thing=arch, expected=" or ".join(ARCHITECTURES)
        )
    processors = read_processors(root)
    cpu = _only_model(processors)
    return Host(arch, host_features(arch, processors, root), cpu, _read_clusters(root, processors))


def host_features(arch: str, processors: tuple[LogicalCpu, ...], root: Path = Path("/")) -> tuple[str, ...]:
    """Features that all CPUs have, sorted; from the auxiliary vector, or the architecture's baseline, without /proc."""
    if processors and all(processor.features for processor in processors):
        return tuple(sorted(frozenset.intersection(*(processor.features for processor in processors))))
    if arch != "aarch64":
        return ()
    bits = _hardware_capabilities(root)
    return tuple(sorted({"asimd"} | {name for name, bit in _ARM_HWCAP.items() if bits & bit}))


def read_processors(root: Path = Path("/")) -> tuple[LogicalCpu, ...]:
    """The entries of /proc/cpuinfo; empty if it cannot be read."""
    try:
        text = (root / "proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    processors = []
    for block in re.split(r"\n\s*\n", text):
        entries = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in block.splitlines())}
        if entries.get("processor", "").isdigit():
            processors.append(_logical_cpu(entries))
    return tuple(processors)


def _logical_cpu(entries: Mapping[str, str]) -> LogicalCpu:
    return LogicalCpu(
        number=int(entries["processor"]),
        model=entries.get("model name") or entries.get("CPU part") or "unknown",
        features=frozenset((entries.get("flags") or entries.get("Features") or "").split()),
        implementer=_hexadecimal(entries.get("CPU implementer")),
        part=_hexadecimal(entries.get("CPU part")),
    )


def _hexadecimal(text: str | None) -> int | None:
    return int(text, 16) if text and re.fullmatch(r"0x[0-9a-fA-F]+", text) else None


def _hardware_capabilities(root: Path) -> int:
    try:
        data = (root / "proc/self/auxv").read_bytes()
    except OSError:
        return 0
    return next(
        (value for key, value in struct.iter_unpack("<2Q", data[: len(data) // 16 * 16]) if key == _AT_HWCAP), 0
    )


def _only_model(processors: tuple[LogicalCpu, ...]) -> Cpu | None:
    models = {(processor.implementer, processor.part) for processor in processors}
    return find_cpu(*models.pop()) if len(models) == 1 else None


def _read_clusters(root: Path, processors: tuple[LogicalCpu, ...]) -> tuple[Cluster, ...]:
    numbers = [processor.number for processor in processors] or list(range(os.cpu_count() or 1))
    groups: dict[tuple[int, str], list[int]] = {}
    models = {processor.number: processor.model for processor in processors}
    for number in numbers:
        base = root / f"sys/devices/system/cpu/cpu{number}"
        hertz = 1000 * (_read_integer(base / "cpufreq/cpuinfo_max_freq") or 0)
        groups.setdefault((hertz, models.get(number, "unknown")), []).append(number)
    clusters = []
    for (hertz, model), cpus in sorted(groups.items(), key=lambda item: (-item[0][0], item[1])):
        caches = _cache_bytes(root, cpus[0])
        known = find_cpu(*_identity(processors, cpus[0]))
        l2_bytes, l2_shared_by = caches.get(2, (_DEFAULT_L2_BYTES, 1))
        clusters.append(
            Cluster(
                cpu=known.name if known else model,
                cpus=tuple(cpus),
                l1d_bytes=caches.get(1, (_DEFAULT_L1D_BYTES, 1))[0],
                l2_bytes=l2_bytes,
                l2_shared_by=l2_shared_by,
                l3_bytes=caches.get(3, (0, 1))[0],
                max_hz=hertz or None,
                f32_fma_per_cycle=known.f32_fma_per_cycle if known else None,
            )
        )
    return tuple(clusters)


def _identity(processors: tuple[LogicalCpu, ...], number: int) -> tuple[int | None, int | None]:
    return next(((each.implementer, each.part) for each in processors if each.number == number), (None, None))


def _cache_bytes(root: Path, number: int) -> dict[int, tuple[int, int]]:
    """Level -> (bytes, how many physical cores share it) of the data and unified caches of a CPU."""
    found: dict[int, tuple[int, int]] = {}
    threads = _count_cpus(_read_text(root / f"sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")) or 1
    for index in sorted((root / f"sys/devices/system/cpu/cpu{number}/cache").glob("index*")):
        level, size = _read_integer(index / "level"), _cache_size(_read_text(index / "size"))
        if level is None or size is None or _read_text(index / "type") == "Instruction":
            continue
        sharing = _count_cpus(_read_text(index / "shared_cpu_list")) or threads
        found[level] = (size, max(1, sharing // threads))
    return found


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _read_integer(path: Path) -> int | None:
    text = _read_text(path)
    return int(text) if text.isdigit() else None


def _cache_size(text: str) -> int | None:
    match = re.fullmatch(r"(\d+)([KM]?)", text)
    return int(match[1]) << {"": 0, "K": 10, "M": 20}[match[2]] if match else None


def _count_cpus(text: str) -> int:
    ranges = re.findall(r"(\d+)(?:-(\d+))?", text)
    return sum(int(last or first) - int(first) + 1 for first, last in ranges)
