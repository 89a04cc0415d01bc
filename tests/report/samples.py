"""Synthetic profiles with known numbers, for every test of reports."""

from __future__ import annotations

from typing import Any

from cuvil_edge.profile.records import (
    BoardLimits,
    Profile,
    ProfileSlot,
    ProfileStep,
    ProfileTensor,
    Verification,
    VerifiedOutput,
)

STEP_NS = 1_000_000
GAP_NS = 1_000
GIGA = 1_000_000_000
NASTY_NAME = '<script>alert("x&y")</script>\'|`\x1b[31m\u202e=cmd é世界'

CALM_FACTS: dict[str, Any] = {
    "architecture": "aarch64",
    "clocks": {"cpu0": 2_400_000_000, "cpu1": 2_400_000_000},
    "governor": {"cpu0": "performance", "cpu1": "performance"},
    "temperature": {"cpu-thermal": 48_000},
    "throttling": {"now": [], "since_boot": []},
    "load": {"one_minute": 0.1},
    "memory": {"total_bytes": 8 << 30, "available_bytes": 7 << 30},
}


def make_step(index: int, **changes: Any) -> ProfileStep:
    """Step ``index``: 2 MFLOP over 1000 bytes; reads value t<index>, writes t<index + 1>."""
    values: dict[str, Any] = {
        "name": f"Conv_{index}",
        "op": "conv",
        "kernel": f"conv_1x1_{index}",
        "layers": (f"Conv_{index}", f"Relu_{index}"),
        "dtype": "f32",
        "inputs": (ProfileTensor(f"t{index}", "f32", (1, 8, 4, 4)),),
        "outputs": (ProfileTensor(f"t{index + 1}", "f32", (1, 8, 4, 4)),),
        "flops": 2_000_000,
        "bytes_read": 600,
        "bytes_written": 400,
        "weights_bytes": 100,
    }
    return ProfileStep(**{**values, **changes})


def make_profile(steps: int = 3, /, runs: int = 12, **changes: Any) -> Profile:
    """Step i takes (i + 1) ms in every run, with a gap of 1 µs in front of each and after the last; cost 2 µs."""
    durations = tuple(STEP_NS * (i + 1) for i in range(steps))
    starts = tuple(sum(durations[:i]) + GAP_NS * (i + 1) for i in range(steps))
    wall = sum(durations) + GAP_NS * (steps + 1)
    values: dict[str, Any] = {
        "artifact_sha256": "ab" * 32,
        "model": "tiny",
        "target": "raspberry-pi-5",
        "board": "raspberry-pi-5",
        "device": "pi5",
        "transport": "ssh",
        "unit": "ns",
        "threads": 4,
        "created_unix_ns": 1_767_225_600_000_000_000,
        "symbols": {"N": 1},
        "steps": tuple(make_step(i) for i in range(steps)),
        "run_wall_ns": (wall,) * runs,
        "step_start_ns": (starts,) * runs,
        "step_duration_ns": (durations,) * runs,
        "unprofiled_run_ns": (max(wall - 2 * GAP_NS, 0),) * runs,
        "profiler_cost_ns": 2 * GAP_NS,
        "warmup_runs": 3,
        "arena_bytes": 1_600,
        "arena_lower_bound_bytes": 1_500,
        "peak_rss_bytes": 20 << 20,
        "slots": tuple(
            ProfileSlot(kind="arena", first_step=i, last_step=min(i + 1, steps - 1), bytes=500, values=(f"t{i + 1}",))
            for i in range(steps)
        ),
        "facts_before": CALM_FACTS,
        "facts_after": CALM_FACTS,
        "board_limits": BoardLimits(peak_flops_per_second=100 * GIGA, memory_bytes_per_second=10 * GIGA),
        "verification": Verification(
            passed=True, reference="random", outputs=(VerifiedOutput(name="logits", mismatches=0, max_abs_error=1e-7),)
        ),
        "command": "cuvil-edge profile tiny.cuvil --runs 12",
    }
    return Profile(**{**values, **changes})


def make_counted(steps: int = 3, /, **changes: Any) -> Profile:
    """An emulated profile: step i executes (i + 1) million instructions."""
    values: dict[str, Any] = {
        "unit": "instructions",
        "transport": "emulator",
        "runs": 0,
        "unprofiled_run_ns": (),
        "profiler_cost_ns": 0,
        "facts_before": {},
        "facts_after": {},
        "step_counters": {"instructions": tuple(1_000_000 * (i + 1) for i in range(steps))},
    }
    return make_profile(steps, **{**values, **changes})


def with_names(name: str) -> Profile:
    """A profile in which everything that a stranger chooses is called ``name``."""
    tensor = ProfileTensor(name, "f32", (1,))
    step = make_step(0, name=name, op=name, kernel=name, layers=(name, name), inputs=(tensor,), outputs=(tensor,))
    texts = dict.fromkeys(("model", "target", "board", "device", "command"), name)
    facts = {name: name, "governor": {name: name}}
    slot = ProfileSlot(kind="arena", first_step=0, last_step=0, bytes=1, values=(name,))
    outputs = (VerifiedOutput(name=name, mismatches=1),)
    return make_profile(
        1,
        steps=(step,),
        slots=(slot,),
        symbols={name: 1},
        facts_before=facts,
        facts_after=facts,
        verification=Verification(passed=False, reference=name, outputs=outputs),
        **texts,
    )


def bare(steps: int = 2) -> Profile:
    """Nothing that may be missing is there."""
    full = make_profile(steps, runs=4)
    keys = "artifact_sha256 model target board device transport unit threads created_unix_ns steps run_wall_ns"
    keys += " step_start_ns step_duration_ns"
    return Profile(**{key: getattr(full, key) for key in keys.split()})


def all_kinds() -> dict[str, Profile]:
    """One profile of each kind that a format must render."""
    zero = make_profile(2, runs=3)
    return {
        "time": make_profile(),
        "instructions": make_counted(),
        "one_step": make_profile(1),
        "one_run": make_profile(runs=1, unprofiled_run_ns=()),
        "no_runs": make_profile(runs=0, unprofiled_run_ns=()),
        "no_steps": make_profile(0, slots=()),
        "zero_durations": make_profile(
            2,
            runs=3,
            run_wall_ns=(0, 0, 0),
            step_start_ns=((0, 0),) * 3,
            step_duration_ns=((0, 0),) * 3,
            unprofiled_run_ns=(0, 0, 0),
            profiler_cost_ns=zero.profiler_cost_ns,
        ),
        "bare": bare(),
        "no_work": make_profile(
            2, steps=tuple(make_step(i, flops=0, bytes_read=0, bytes_written=0, op="reshape") for i in range(2))
        ),
        "only_peak": make_profile(board_limits=BoardLimits(peak_flops_per_second=GIGA)),
        "only_bandwidth": make_profile(board_limits=BoardLimits(memory_bytes_per_second=GIGA)),
        "empty_limits": make_profile(board_limits=BoardLimits()),
        "nasty_names": with_names(NASTY_NAME),
        "scalar": make_profile(1, steps=(make_step(0, outputs=(ProfileTensor("s", "i64", ()),), inputs=()),)),
        "counted_nothing": make_counted(step_counters={"instructions": (0, 0, 0)}),
    }


KINDS = tuple(all_kinds())
