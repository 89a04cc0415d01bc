"""The view model that every report format renders: all numbers computed, none of them formatted.

Times are in nanoseconds (floats where they are medians or means), rates per second, shares in [0, 1]. A value that was
not measured, or makes no sense for this profile, is None and never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cuvil_edge.profile.records import BoardLimits, Profile, ProfileTensor, Verification
from cuvil_edge.profile.statistics import Statistics

EMULATED_NOTE = (
    "Emulated: these are executed instructions, counted by running the program for this target under an emulator. "
    "The clock of an emulator says nothing about the board, so there are no milliseconds: a device is needed for them."
)
VERDICTS = ("trusted", "doubtful", "untrusted")
SEVERITIES = ("note", "doubtful", "untrusted")


@dataclass(frozen=True, kw_only=True)
class TrustWarning:
    """One reason to read the measurement with care."""

    kind: str
    """Stable machine-readable name, such as ``clock_changed``."""
    severity: str
    """"note" (worth knowing), "doubtful" or "untrusted": the verdict is the worst of them."""
    what: str
    found: str
    expected: str
    hint: str


@dataclass(frozen=True, kw_only=True)
class Header:
    """What was measured, and where."""

    model: str
    board: str
    device: str
    transport: str
    target: str
    unit: str
    threads: int
    symbols: Mapping[str, int]
    artifact_sha256: str
    created_unix_ns: int
    command: str | None
    runs: int
    warmup_runs: int


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The model as a whole."""

    wall: Statistics | None
    """Runs with the profiler on, in ns."""
    unprofiled: Statistics | None
    """Runs with the profiler off, in ns: what a user of the model gets."""
    runs_per_second: float | None
    flops: int
    bytes_read: int
    bytes_written: int
    weights_bytes: int
    flops_per_second: float | None
    peak_share: float | None
    """``flops_per_second`` / the board's peak."""
    instructions: int | None
    instructions_per_flop: float | None
    peak_rss_bytes: int | None

    @property
    def latency(self) -> Statistics | None:
        """The series that answers "how long does a run take": without the profiler where that was measured."""
        return self.unprofiled or self.wall


@dataclass(frozen=True, kw_only=True)
class LayerRow:
    """One step of the plan, with all the user's layers that were fused into it."""

    index: int
    name: str
    op: str
    layers: tuple[str, ...]
    kernel: str
    dtype: str
    inputs: tuple[ProfileTensor, ...]
    outputs: tuple[ProfileTensor, ...]
    flops: int
    bytes_read: int
    bytes_written: int
    weights_bytes: int
    calls: int
    time: Statistics | None
    instructions: int | None
    share: float | None
    """Of the sum of all layers (over all runs); the shares of a report add up to 1."""
    cumulative_share: float | None
    """Shares of this and all earlier rows, in the order of the plan."""
    flops_per_second: float | None
    """At the median time."""
    bytes_per_second: float | None
    """Bytes that must move at least once / median time."""
    flops_per_byte: float | None
    """Arithmetic intensity (Williams, Waterman and Patterson 2009, the roofline model)."""
    limit_share: float | None
    """Achieved rate / what the board's roofline allows at this intensity."""
    bound: str | None
    """"compute" or "memory": which of the board's limits lies lower for this layer."""
    instructions_per_flop: float | None
    counters: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Group:
    """All rows with one op, or one kernel, added up."""

    name: str
    steps: int
    time_ns: float | None
    """Sum of the rows' mean times."""
    instructions: int | None
    share: float | None
    flops: int
    flops_per_second: float | None


@dataclass(frozen=True, kw_only=True)
class RunClosure:
    """Where one run's wall time went: ``layers_ns + gaps_ns + profiler_ns == wall_ns``, exactly.

    The time outside the layers is measured from the start times of the steps: before the first, between one's end and
    the next one's start, and after the last. The profiler takes its times there, so its cost is subtracted from it;
    the rest are the gaps.
    """

    wall_ns: int
    layers_ns: int
    gaps_ns: int
    profiler_ns: int
    before_first_ns: int
    between_ns: int
    after_last_ns: int
    overlaps: int
    """Steps that start before the one in front has ended: such times cannot be right."""

    @property
    def gap_share(self) -> float:
        """The part of the wall time that neither a layer nor the profiler explains."""
        return self.gaps_ns / self.wall_ns if self.wall_ns else 0.0


@dataclass(frozen=True, kw_only=True)
class Closure:
    """The closure of every run, and the price of measuring."""

    runs: tuple[RunClosure, ...]
    shown: int
    """Index of the run whose wall time is the (lower) median: a real run, so that its parts add up."""
    profiler_cost_ns: int
    profiler_share: float
    """``profiler_cost_ns`` / median wall time."""
    unprofiled_median_ns: float | None
    profiled_median_ns: float
    slowdown: float | None
    """Median with the profiler / median without - 1; noise can make it negative."""

    @property
    def shown_run(self) -> RunClosure:
        """The median run."""
        return self.runs[self.shown]


@dataclass(frozen=True, kw_only=True)
class Arena:
    """Bytes of arena slots that are alive in each step."""

    live_bytes: tuple[int, ...]
    planned_bytes: int
    lower_bound_bytes: int
    """The largest sum of slots that are alive together: no plan can be smaller."""
    peak_step: int
    peak_slots: tuple[tuple[str, int], ...]
    """(values, bytes) of the slots alive at the peak, the largest first."""


@dataclass(frozen=True, kw_only=True)
class FactRow:
    """A fact about the device, before and after the measurement; None where it was not read."""

    name: str
    before: Any
    after: Any

    @property
    def changed(self) -> bool:
        """Whether it was read twice with different results."""
        return self.before is not None and self.after is not None and self.before != self.after


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything a format may show. ``profile`` is the raw data, for formats that draw single runs."""

    header: Header
    totals: Totals
    layers: tuple[LayerRow, ...]
    by_op: tuple[Group, ...]
    by_kernel: tuple[Group, ...]
    closure: Closure | None
    arena: Arena | None
    limits: BoardLimits | None
    facts: tuple[FactRow, ...]
    verification: Verification | None
    warnings: tuple[TrustWarning, ...]
    verdict: str
    note: str | None
    """A sentence that must stand beside the numbers, such as that they are emulated."""
    profile: Profile

    @property
    def is_timed(self) -> bool:
        """Whether there are times; otherwise there are executed instructions and no time anywhere."""
        return self.header.unit == "ns"

    def hottest(self, count: int | None = None) -> tuple[LayerRow, ...]:
        """Rows by falling share (plan order where equal), at most ``count`` of them."""
        rows = sorted(self.layers, key=lambda row: (-(row.share or 0.0), row.index))
        return tuple(rows[:count])
