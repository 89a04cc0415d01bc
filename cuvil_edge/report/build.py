"""From raw data to the view model: ``build_report(profile)``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from cuvil_edge.profile.records import INSTRUCTIONS, BoardLimits, Profile, ProfileStep
from cuvil_edge.profile.statistics import Statistics, summarize
from cuvil_edge.report.model import (
    EMULATED_NOTE,
    Arena,
    Closure,
    FactRow,
    Group,
    Header,
    LayerRow,
    Report,
    RunClosure,
    Totals,
    TrustWarning,
)
from cuvil_edge.report.warnings import find_warnings, verdict_of

_LAYER_RESAMPLES = 400
"""Fewer than for the whole run, because a plan has hundreds of layers and their intervals are read less closely."""


def build_report(profile: Profile, warnings: Sequence[TrustWarning] = ()) -> Report:
    """The report of a profile; pure, so that equal profiles give equal reports.

    Args:
        profile: the measurement.
        warnings: further reasons for doubt that only the caller knows, such as a lost connection.
    """
    closure = _closure(profile)
    layers = _layers(profile)
    found = (*warnings, *find_warnings(profile, closure))
    return Report(
        header=_header(profile),
        totals=_totals(profile),
        layers=layers,
        by_op=_groups(layers, lambda row: row.op),
        by_kernel=_groups(layers, lambda row: row.kernel),
        closure=closure,
        arena=_arena(profile),
        limits=_limits(profile),
        facts=_facts(profile),
        verification=profile.verification,
        warnings=found,
        verdict=verdict_of(found),
        note=None if profile.is_timed else EMULATED_NOTE,
        profile=profile,
    )


def _header(profile: Profile) -> Header:
    return Header(
        model=profile.model,
        board=profile.board,
        device=profile.device,
        transport=profile.transport,
        target=profile.target,
        unit=profile.unit,
        threads=profile.threads,
        symbols=dict(profile.symbols),
        artifact_sha256=profile.artifact_sha256,
        created_unix_ns=profile.created_unix_ns,
        command=profile.command,
        runs=len(profile.run_wall_ns) if profile.is_timed else 1,
        warmup_runs=profile.warmup_runs,
    )


def _ratio(value: float | None, divisor: float | None) -> float | None:
    return value / divisor if value is not None and divisor else None


def _totals(profile: Profile) -> Totals:
    steps, timed = profile.steps, profile.is_timed
    wall = summarize(profile.run_wall_ns) if timed else None
    unprofiled = summarize(profile.unprofiled_run_ns) if timed else None
    latency_ns = best.median if (best := unprofiled or wall) else None
    flops = sum(step.flops for step in steps)
    counts = profile.step_counters.get(INSTRUCTIONS)
    instructions = sum(counts) if counts is not None else None
    flops_per_second = _ratio(flops * 1e9, latency_ns)
    peak = profile.board_limits.peak_flops_per_second if profile.board_limits else None
    return Totals(
        wall=wall,
        unprofiled=unprofiled,
        runs_per_second=_ratio(1e9, latency_ns),
        flops=flops,
        bytes_read=sum(step.bytes_read for step in steps),
        bytes_written=sum(step.bytes_written for step in steps),
        weights_bytes=sum(step.weights_bytes for step in steps),
        flops_per_second=flops_per_second,
        peak_share=_ratio(flops_per_second, peak),
        instructions=instructions,
        instructions_per_flop=_ratio(instructions, flops),
        peak_rss_bytes=profile.peak_rss_bytes,
    )


def _layers(profile: Profile) -> tuple[LayerRow, ...]:
    if profile.is_timed:
        weights = [sum(row[i] for row in profile.step_duration_ns) for i in range(len(profile.steps))]
    else:
        weights = list(profile.step_counters.get(INSTRUCTIONS, ()))
    total, running, rows = sum(weights), 0, []
    for index, step in enumerate(profile.steps):
        running += weights[index]
        rows.append(_layer(profile, index, step, _ratio(weights[index], total), _ratio(running, total)))
    return tuple(rows)


def _layer(
    profile: Profile, index: int, step: ProfileStep, share: float | None, cumulative_share: float | None
) -> LayerRow:
    time = summarize([row[index] for row in profile.step_duration_ns], resamples=_LAYER_RESAMPLES)
    median_ns = time.median if time else None
    moved_bytes = step.bytes_read + step.bytes_written
    flops_per_second = _ratio(step.flops * 1e9, median_ns) if step.flops else None
    bytes_per_second = _ratio(moved_bytes * 1e9, median_ns) if moved_bytes else None
    counters = {name: values[index] for name, values in profile.step_counters.items()}
    bound = bound_by(step.flops, moved_bytes, profile.board_limits)
    return LayerRow(
        index=index,
        name=step.name,
        op=step.op,
        layers=step.layers,
        kernel=step.kernel,
        dtype=step.dtype,
        inputs=step.inputs,
        outputs=step.outputs,
        flops=step.flops,
        bytes_read=step.bytes_read,
        bytes_written=step.bytes_written,
        weights_bytes=step.weights_bytes,
        calls=len(profile.run_wall_ns) if profile.is_timed else 1,
        time=time,
        instructions=counters.get(INSTRUCTIONS),
        share=share,
        cumulative_share=cumulative_share,
        flops_per_second=flops_per_second,
        bytes_per_second=bytes_per_second,
        flops_per_byte=_ratio(step.flops, moved_bytes) if step.flops else None,
        limit_share=_limit_share(bound, flops_per_second, bytes_per_second, profile.board_limits),
        bound=bound,
        instructions_per_flop=_ratio(counters.get(INSTRUCTIONS), step.flops),
        counters=counters,
    )


def bound_by(flops: int, moved_bytes: int, limits: BoardLimits | None) -> str | None:
    """Which limit of the board takes longer for this work, "compute" or "memory"; None if that cannot be known.

    The roofline model (Williams, Waterman and Patterson 2009): compute needs flops / peak, memory needs bytes /
    bandwidth seconds. Work without flops is bound by memory.
    """
    if limits is None or not (flops or moved_bytes):
        return None
    peak, bandwidth = limits.peak_flops_per_second, limits.memory_bytes_per_second
    if not flops:
        return "memory" if bandwidth else None
    if not moved_bytes:
        return "compute" if peak else None
    if not peak or not bandwidth:
        return None
    return "compute" if flops * bandwidth >= moved_bytes * peak else "memory"


def _limit_share(
    bound: str | None, flops_per_second: float | None, bytes_per_second: float | None, limits: BoardLimits | None
) -> float | None:
    if limits is None or bound is None:
        return None
    if bound == "compute":
        return _ratio(flops_per_second, limits.peak_flops_per_second)
    return _ratio(bytes_per_second, limits.memory_bytes_per_second)


def _groups(rows: Sequence[LayerRow], key: Callable[[LayerRow], str]) -> tuple[Group, ...]:
    members: dict[str, list[LayerRow]] = defaultdict(list)
    for row in rows:
        members[key(row)].append(row)
    groups = [_group(name, rows) for name, rows in members.items()]
    return tuple(sorted(groups, key=lambda group: (-(group.share or 0.0), group.name)))


def _group(name: str, rows: Sequence[LayerRow]) -> Group:
    times = [row.time.mean for row in rows if row.time is not None]
    counts = [row.instructions for row in rows if row.instructions is not None]
    shares = [row.share for row in rows if row.share is not None]
    flops = sum(row.flops for row in rows)
    time_ns = sum(times) if times else None
    return Group(
        name=name,
        steps=len(rows),
        time_ns=time_ns,
        instructions=sum(counts) if counts else None,
        share=sum(shares) if shares else None,
        flops=flops,
        flops_per_second=_ratio(flops * 1e9, time_ns) if flops else None,
    )


def _closure(profile: Profile) -> Closure | None:
    if not profile.is_timed or not profile.run_wall_ns:
        return None
    runs = tuple(
        close_run(wall, starts, durations, profile.profiler_cost_ns)
        for wall, starts, durations in zip(
            profile.run_wall_ns, profile.step_start_ns, profile.step_duration_ns, strict=True
        )
    )
    order = sorted(range(len(runs)), key=lambda i: (runs[i].wall_ns, i))
    wall = _median(profile.run_wall_ns)
    unprofiled = _median(profile.unprofiled_run_ns) if profile.unprofiled_run_ns else None
    return Closure(
        runs=runs,
        shown=order[(len(order) - 1) // 2],
        profiler_cost_ns=profile.profiler_cost_ns,
        profiler_share=_ratio(profile.profiler_cost_ns, wall) or 0.0,
        unprofiled_median_ns=unprofiled,
        profiled_median_ns=wall,
        slowdown=wall / unprofiled - 1 if unprofiled else None,
    )


def _median(values: Sequence[int]) -> float:
    summary: Statistics | None = summarize(values)
    return summary.median if summary else 0.0


def close_run(wall_ns: int, starts_ns: Sequence[int], durations_ns: Sequence[int], profiler_cost_ns: int) -> RunClosure:
    """Account for one run, in whole nanoseconds.

    Args:
        wall_ns: from before the first step to after the last.
        starts_ns: of each step, from the start of the run.
        durations_ns: of each step.
        profiler_cost_ns: what the profiler cost in this run. Of it, only what fits outside the layers is subtracted
            there; the rest was spent inside layers and cannot be told apart from them.
    """
    ends = [start + duration for start, duration in zip(starts_ns, durations_ns, strict=True)]
    between = [start - end for start, end in zip(starts_ns[1:], ends[:-1], strict=True)] if ends else []
    before_first = starts_ns[0] if ends else 0
    after_last = wall_ns - (ends[-1] if ends else 0)
    outside = before_first + sum(between) + after_last
    profiler = max(0, min(profiler_cost_ns, outside))
    return RunClosure(
        wall_ns=wall_ns,
        layers_ns=sum(durations_ns),
        gaps_ns=outside - profiler,
        profiler_ns=profiler,
        before_first_ns=before_first,
        between_ns=sum(between),
        after_last_ns=after_last,
        overlaps=sum(gap < 0 for gap in between) + (after_last < 0),
    )


def _arena(profile: Profile) -> Arena | None:
    slots = [slot for slot in profile.slots if slot.kind == "arena"]
    if not slots or not profile.steps:
        return None
    live = [0] * (len(profile.steps) + 1)
    for slot in slots:
        live[slot.first_step] += slot.bytes
        live[slot.last_step + 1] -= slot.bytes
    for index in range(1, len(live)):
        live[index] += live[index - 1]
    live.pop()
    peak = max(range(len(live)), key=lambda i: (live[i], -i))
    at_peak = [slot for slot in slots if slot.first_step <= peak <= slot.last_step]
    at_peak.sort(key=lambda slot: -slot.bytes)
    bound = profile.arena_lower_bound_bytes
    return Arena(
        live_bytes=tuple(live),
        planned_bytes=profile.arena_bytes,
        lower_bound_bytes=max(live) if bound is None else bound,
        peak_step=peak,
        peak_slots=tuple((", ".join(slot.values) or "(unnamed)", slot.bytes) for slot in at_peak),
    )


def _limits(profile: Profile) -> BoardLimits | None:
    """The board's limits, None where neither is known."""
    limits = profile.board_limits
    known = limits is not None and (limits.peak_flops_per_second or limits.memory_bytes_per_second)
    return limits if known else None


def _facts(profile: Profile) -> tuple[FactRow, ...]:
    before, after = profile.facts_before, profile.facts_after
    return tuple(
        FactRow(name=name, before=before.get(name), after=after.get(name)) for name in sorted({*before, *after})
    )
