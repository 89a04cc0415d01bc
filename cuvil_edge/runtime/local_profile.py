"""Times of the runtime and steps of the manifest, put together to a profile of this machine."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuvil_edge.artifact.expression import evaluate
from cuvil_edge.artifact.manifest import Manifest, SlotInfo, StepInfo, ValueInfo
from cuvil_edge.profile.records import Profile, ProfileSlot, ProfileStep, ProfileTensor

if TYPE_CHECKING:
    from cuvil_edge.runtime.session import MemoryUse


def make_profile(
    manifest: Manifest,
    sha256: str,
    times: Mapping[str, Any],
    symbols: Mapping[str, int],
    memory: MemoryUse,
    threads: int,
    *,
    warmup_runs: int,
    command: str | None,
) -> Profile:
    """The profile of one measurement; facts about the machine are filled in by whoever gathers them."""
    return Profile(
        artifact_sha256=sha256,
        model=manifest.model.name,
        target=manifest.target.name,
        board=manifest.target.board or manifest.target.name,
        device=os.uname().nodename,
        transport="local",
        unit="ns",
        threads=threads,
        symbols=dict(symbols),
        created_unix_ns=time.time_ns(),
        steps=tuple(profile_step(step, symbols) for step in manifest.steps),
        run_wall_ns=times["run_wall_ns"],
        step_start_ns=times["step_start_ns"],
        step_duration_ns=times["step_duration_ns"],
        unprofiled_run_ns=times["unprofiled_run_ns"],
        profiler_cost_ns=times["profiler_cost_ns"],
        warmup_runs=warmup_runs,
        arena_bytes=memory.arena_bytes,
        arena_lower_bound_bytes=memory.arena_lower_bound_bytes,
        peak_rss_bytes=peak_rss_bytes(),
        slots=tuple(profile_slot(slot, symbols) for slot in manifest.slots),
        command=command,
    )


def profile_step(step: StepInfo, symbols: Mapping[str, int]) -> ProfileStep:
    """A step with the numbers of one measurement: expressions become integers."""
    return ProfileStep(
        name=step.name,
        op=step.op,
        kernel=step.kernel,
        layers=step.layers,
        dtype=step.dtype,
        inputs=tuple(_tensor(value, symbols) for value in step.inputs),
        outputs=tuple(_tensor(value, symbols) for value in step.outputs),
        flops=evaluate(step.flops, symbols),
        bytes_read=evaluate(step.bytes_read, symbols),
        bytes_written=evaluate(step.bytes_written, symbols),
        weights_bytes=step.weights_bytes,
    )


def profile_slot(slot: SlotInfo, symbols: Mapping[str, int]) -> ProfileSlot:
    """A slot with its size at the symbols of one measurement."""
    return ProfileSlot(
        kind=slot.kind,
        first_step=slot.first_step,
        last_step=slot.last_step,
        bytes=evaluate(slot.bytes, symbols),
        values=slot.values,
    )


def peak_rss_bytes() -> int:
    """The most memory that this process ever had resident."""
    # VmHWM first: ru_maxrss also remembers the program that was replaced by exec.
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _tensor(value: ValueInfo, symbols: Mapping[str, int]) -> ProfileTensor:
    return ProfileTensor(value=value.value, dtype=value.dtype, shape=value.extents(symbols))
