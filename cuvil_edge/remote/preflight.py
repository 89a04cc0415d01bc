"""Whether a device can run an artifact: its facts against what the artifact needs, before anything is copied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cuvil_edge.artifact.manifest import Manifest
from cuvil_edge.errors import (
    DiskFullError,
    MissingFeatureError,
    OutOfMemoryError,
    RemoteError,
    WrongArchitectureError,
)
from cuvil_edge.units import format_bytes

Facts = Mapping[str, Any]

# Besides weights and arena: the program, its threads' stacks, and the buffers of inputs and outputs in the agent.
PROGRAM_MEMORY_BYTES = 16 << 20
# While a new release is uploaded, the current one stays; a little more for the file system itself.
DISK_RESERVE_BYTES = 4 << 20
BUSY_LOAD_PER_CPU = 0.5


@dataclass(frozen=True)
class Finding:
    """Something that does not fit (``error``), or that makes measurements doubtful (``warning``)."""

    severity: Literal["error", "warning"]
    what: str
    found: str
    expected: str
    hint: str
    family: type[RemoteError] = field(default=RemoteError, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.what}: expected {self.expected}, found {self.found}"

    def to_json(self) -> dict[str, str]:
        """For ``--json``."""
        keys = ("severity", "what", "found", "expected", "hint")
        return {key: getattr(self, key) for key in keys}


def preflight(facts: Facts, manifest: Manifest | None, *, upload_bytes: int = 0) -> tuple[Finding, ...]:
    """What speaks against running the artifact on the device with these facts; errors first.

    A fact that is not known is not held against the device: the program on it checks again.

    Args:
        facts: as ``gather_facts`` returns them.
        manifest: the artifact's; None looks only at the device's condition.
        upload_bytes: what an installation will write.
    """
    checks: tuple[Iterator[Finding], ...] = (_condition(facts),)
    if manifest is not None:
        checks = (
            _architecture(facts, manifest),
            _features(facts, manifest),
            _memory(facts, manifest),
            _disk(facts, upload_bytes),
            *checks,
        )
    return tuple(finding for check in checks for finding in check)


def refuse(findings: Sequence[Finding], thing: str) -> None:
    """Raise the first error of ``findings``, with all the others as details; nothing if there is none.

    Raises:
        WrongArchitectureError, MissingFeatureError, OutOfMemoryError, DiskFullError: by what does not fit.
    """
    errors = [finding for finding in findings if finding.severity == "error"]
    if not errors:
        return
    first = errors[0]
    raise first.family(
        first.what,
        thing=thing,
        expected=first.expected,
        found=first.found,
        hint=first.hint,
        details=tuple(str(finding) for finding in errors[1:]),
    )


def needed_memory_bytes(manifest: Manifest) -> int:
    """Weights (mapped, but read all the time), the arena at the compiler's example, and the program."""
    arena = manifest.memory.arena
    return manifest.memory.weights_bytes + (arena.planned_bytes if arena else 0) + PROGRAM_MEMORY_BYTES


def _architecture(facts: Facts, manifest: Manifest) -> Iterator[Finding]:
    found, wanted = facts.get("architecture"), manifest.target.arch
    if found is None or found == wanted:
        return
    hint = "compile for this device: cuvil-edge compile MODEL --board NAME (cuvil-edge boards lists them)"
    if (found, wanted) == ("armv7l", "aarch64"):
        hint = "this is a 32-bit system; install a 64-bit one on the board"
    yield Finding("error", "the artifact is for another CPU architecture", found, wanted, hint, WrongArchitectureError)


def _features(facts: Facts, manifest: Manifest) -> Iterator[Finding]:
    features = facts.get("cpu_features")
    wanted = manifest.target.required_features
    if not isinstance(features, Sequence) or facts.get("architecture", manifest.target.arch) != manifest.target.arch:
        return
    if missing := [name for name in wanted if name not in features]:
        yield Finding(
            "error",
            "the device's CPU lacks instructions that the artifact uses",
            f"no {', '.join(missing)}",
            ", ".join(wanted),
            "compile for this device's board, or for generic-arm64, which runs on every 64-bit ARM CPU",
            MissingFeatureError,
        )


def _memory(facts: Facts, manifest: Manifest) -> Iterator[Finding]:
    memory = facts.get("memory")
    if not isinstance(memory, Mapping):
        return
    needed, total = needed_memory_bytes(manifest), memory.get("total_bytes")
    available = memory.get("available_bytes", total)
    expected = f"{format_bytes(needed)} (weights, arena, program)"
    if isinstance(total, int) and total < needed:
        hint = "use a smaller model or smaller inputs"
        found = f"{format_bytes(total)} in all"
        yield Finding("error", "the device has not enough memory", found, expected, hint, OutOfMemoryError)
    elif isinstance(available, int) and available < needed:
        hint = "stop other programs on the device"
        found = f"{format_bytes(available)} available"
        yield Finding("warning", "the device is short of memory", found, expected, hint)


def _disk(facts: Facts, upload_bytes: int) -> Iterator[Finding]:
    disk = facts.get("free_disk")
    available = disk.get("available_bytes") if isinstance(disk, Mapping) else None
    needed = upload_bytes + DISK_RESERVE_BYTES
    if upload_bytes and isinstance(available, int) and available < needed:
        hint = "free some space there, or choose another folder with --root"
        yield Finding(
            "error",
            "no space left on the device",
            f"{format_bytes(available)} free",
            format_bytes(needed),
            hint,
            DiskFullError,
        )


def _condition(facts: Facts) -> Iterator[Finding]:
    throttling = facts.get("throttling")
    now = throttling.get("now", ()) if isinstance(throttling, Mapping) else ()
    earlier = throttling.get("since_boot", ()) if isinstance(throttling, Mapping) else ()
    if "undervoltage" in now or "undervoltage" in earlier:
        when = "now" if "undervoltage" in now else "since it was started"
        hint = "use the board's own power supply and a short, thick cable; the board may crash under load"
        yield Finding("warning", "the board's power supply is too weak", f"undervoltage {when}", "none", hint)
    if others := [word for word in now if word != "undervoltage"]:
        hint = "cool the board (heat sink, fan)"
        yield Finding("warning", "the board slows itself down", ", ".join(others), "full speed", hint)
    governor = facts.get("governor")
    names = sorted(set(governor.values()) - {"performance"}) if isinstance(governor, Mapping) else []
    if names:
        hint = "on the board: echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
        yield Finding("warning", "the clocks may change while measuring", ", ".join(names), "performance", hint)
    load = facts.get("load")
    busy = load.get("one_minute", 0) if isinstance(load, Mapping) else 0
    if busy > BUSY_LOAD_PER_CPU * _cpu_count(facts):
        hint = "stop other programs on the device before measuring"
        yield Finding("warning", "the device is busy", f"a load of {busy:.2f}", "an idle device", hint)


def _cpu_count(facts: Facts) -> int:
    clusters = facts.get("cpu_clusters")
    cpus = sum(len(item.get("cpus", ())) for item in clusters) if isinstance(clusters, Sequence) else 0
    return max(1, cpus)
