"""Risk: the order of the slowest layers changes from one report to the next."""

from __future__ import annotations

from cuvil_edge.report.build import build_report
from cuvil_edge.report.model import RunClosure
from tests.report.samples import make_profile


def test_slowest_first_and_plan_order_where_equal() -> None:
    durations = ((5, 9, 5, 9),) * 3
    report = build_report(make_profile(4, runs=3, step_duration_ns=durations))
    assert [row.index for row in report.hottest()] == [1, 3, 0, 2]
    assert [row.index for row in report.hottest(2)] == [1, 3]


def test_gap_share_of_a_run_without_time() -> None:
    values = dict.fromkeys(("layers_ns", "gaps_ns", "profiler_ns", "before_first_ns", "between_ns", "after_last_ns"), 0)
    assert RunClosure(wall_ns=0, overlaps=0, **values).gap_share == 0
