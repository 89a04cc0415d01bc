"""Risk: a report that adds up only because it rounds, or that shows 0 for what was not measured."""

from __future__ import annotations

import random

import pytest

from cuvil_edge.profile.records import BoardLimits, ProfileSlot
from cuvil_edge.report.build import bound_by, build_report, close_run
from cuvil_edge.report.model import Report
from tests.report.samples import GIGA, make_counted, make_profile, make_step


def test_closure_of_known_numbers() -> None:
    closure = build_report(make_profile()).closure
    assert closure is not None
    run = closure.shown_run
    assert (run.wall_ns, run.layers_ns, run.gaps_ns, run.profiler_ns) == (6_004_000, 6_000_000, 2_000, 2_000)
    assert (run.before_first_ns, run.between_ns, run.after_last_ns, run.overlaps) == (1_000, 2_000, 1_000, 0)


def test_closure_is_exact_in_every_run() -> None:
    rng = random.Random(5)
    for _ in range(200):
        starts, durations, now = [], [], 0
        for _ in range(rng.randrange(0, 30)):
            now += rng.randrange(0, 2_000)
            starts.append(now)
            durations.append(rng.randrange(0, 10**9))
            now += durations[-1]
        run = close_run(now + rng.randrange(0, 5_000), starts, durations, rng.randrange(0, 50_000))
        assert run.layers_ns + run.gaps_ns + run.profiler_ns == run.wall_ns
        assert min(run.layers_ns, run.gaps_ns, run.profiler_ns) >= 0
        assert run.before_first_ns + run.between_ns + run.after_last_ns == run.gaps_ns + run.profiler_ns


def test_closure_of_all_kinds_is_exact(any_report: Report) -> None:
    for run in any_report.closure.runs if any_report.closure else ():
        assert run.layers_ns + run.gaps_ns + run.profiler_ns == run.wall_ns


def test_overlapping_steps_are_counted_and_still_add_up() -> None:
    run = close_run(100, [0, 40], [50, 70], 5)
    assert run.overlaps == 2
    assert run.layers_ns + run.gaps_ns + run.profiler_ns == 100


def test_profiler_cost_is_never_more_than_the_time_outside_layers() -> None:
    run = close_run(110, [5, 60], [50, 48], 1_000_000)
    assert (run.profiler_ns, run.gaps_ns) == (12, 0)


def test_shown_run_is_a_real_one_with_the_median_wall_time() -> None:
    walls = (9_000_000, 7_000_000, 8_000_000, 6_100_000)
    closure = build_report(make_profile(runs=4, run_wall_ns=walls, unprofiled_run_ns=())).closure
    assert closure is not None
    assert closure.shown_run.wall_ns == 7_000_000
    assert closure.slowdown is None


def test_layer_rates_are_those_of_the_median() -> None:
    row = build_report(make_profile()).layers[1]
    assert row.time is not None
    assert (row.time.median, row.calls) == (2_000_000, 12)
    assert row.flops_per_second == pytest.approx(GIGA)
    assert row.bytes_per_second == pytest.approx(500_000)
    assert row.flops_per_byte == pytest.approx(2000)
    assert row.bound == "compute"
    assert row.limit_share == pytest.approx(0.01)


def test_shares_add_up_to_one(any_report: Report) -> None:
    shares = [row.share for row in any_report.layers if row.share is not None]
    if shares:
        assert sum(shares) == pytest.approx(1)
        assert any_report.layers[-1].cumulative_share == pytest.approx(1)
        assert sum(group.share or 0 for group in any_report.by_op) == pytest.approx(1)
        assert sum(group.share or 0 for group in any_report.by_kernel) == pytest.approx(1)


def test_share_is_of_all_runs_and_not_of_the_median() -> None:
    durations = ((1, 1), (1, 1), (7, 1))
    profile = make_profile(2, runs=3, step_duration_ns=durations, run_wall_ns=(99_999_999,) * 3)
    assert [row.share for row in build_report(profile).layers] == [0.75, 0.25]


def test_groups_hold_every_step(any_report: Report) -> None:
    for groups in (any_report.by_op, any_report.by_kernel):
        assert sum(group.steps for group in groups) == len(any_report.layers)


def test_latency_is_that_without_the_profiler() -> None:
    totals = build_report(make_profile()).totals
    assert totals.latency is totals.unprofiled
    assert totals.runs_per_second == pytest.approx(1e9 / 6_002_000)
    only = build_report(make_profile(unprofiled_run_ns=())).totals
    assert only.latency is only.wall


def test_instruction_counts_have_no_time_anywhere() -> None:
    report = build_report(make_counted())
    assert not report.is_timed
    assert report.closure is None
    assert report.totals.latency is None
    assert (report.totals.instructions, report.totals.instructions_per_flop) == (6_000_000, 1.0)
    assert report.note is not None
    assert "emulator" in report.note
    for row in report.layers:
        assert (row.time, row.flops_per_second, row.bytes_per_second, row.limit_share) == (None,) * 4
    assert [row.share for row in report.layers] == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    assert report.layers[2].instructions_per_flop == 1.5
    assert report.by_op[0].time_ns is None


def test_counters_that_were_not_measured_stay_absent() -> None:
    plain = build_report(make_profile()).layers[0]
    assert plain.instructions is None
    assert plain.counters == {}
    counted = build_report(make_profile(step_counters={"cycles": (5, 6, 7)})).layers[2]
    assert counted.counters == {"cycles": 7}
    assert counted.instructions is None


@pytest.mark.parametrize(
    ("flops", "moved", "limits", "expected"),
    [
        (1000, 10, BoardLimits(peak_flops_per_second=100, memory_bytes_per_second=10), "compute"),
        (50, 10, BoardLimits(peak_flops_per_second=100, memory_bytes_per_second=10), "memory"),
        (0, 10, BoardLimits(peak_flops_per_second=100, memory_bytes_per_second=10), "memory"),
        (10, 0, BoardLimits(peak_flops_per_second=100, memory_bytes_per_second=10), "compute"),
        (0, 0, BoardLimits(peak_flops_per_second=100, memory_bytes_per_second=10), None),
        (10, 10, BoardLimits(peak_flops_per_second=100), None),
        (0, 10, BoardLimits(peak_flops_per_second=100), None),
        (10, 10, BoardLimits(), None),
        (10, 10, None, None),
    ],
)
def test_bound(flops: int, moved: int, limits: BoardLimits | None, expected: str | None) -> None:
    assert bound_by(flops, moved, limits) == expected


def test_limits_that_say_nothing_are_no_limits() -> None:
    assert build_report(make_profile(board_limits=BoardLimits())).limits is None


def test_arena_counts_what_is_alive_in_each_step() -> None:
    slots = (
        ProfileSlot(kind="arena", first_step=0, last_step=1, bytes=10, values=("a",)),
        ProfileSlot(kind="arena", first_step=1, last_step=2, bytes=100, values=("b", "c")),
        ProfileSlot(kind="input", first_step=0, last_step=2, bytes=5000),
    )
    arena = build_report(make_profile(slots=slots, arena_lower_bound_bytes=None, arena_bytes=128)).arena
    assert arena is not None
    assert arena.live_bytes == (10, 110, 100)
    assert (arena.lower_bound_bytes, arena.planned_bytes, arena.peak_step) == (110, 128, 1)
    assert arena.peak_slots == (("b, c", 100), ("a", 10))


def test_no_arena_slots_means_no_timeline() -> None:
    assert build_report(make_profile(slots=())).arena is None


def test_facts_say_what_changed() -> None:
    rows = {f.name: f for f in build_report(make_profile(facts_before={"a": 1, "b": 2}, facts_after={"a": 3})).facts}
    assert rows["a"].changed
    assert not rows["b"].changed
    assert rows["b"].after is None


def test_step_without_layers_or_work_is_a_row() -> None:
    step = make_step(0, layers=(), flops=0, bytes_read=0, bytes_written=0)
    row = build_report(make_profile(1, steps=(step,))).layers[0]
    assert (row.flops_per_second, row.bytes_per_second, row.flops_per_byte) == (None, None, None)
