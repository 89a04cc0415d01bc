"""Risk: a histogram whose bars are not the runs, or a series that hides a run."""

from __future__ import annotations

import re

from cuvil_edge.profile.statistics import summarize
from cuvil_edge.report.charts.latency import MOST_POINTS, distribution_chart, series_chart, unit_of


def test_bars_stand_for_every_run() -> None:
    values = [1_000_000 + 1000 * (i % 17) for i in range(60)]
    stats = summarize(values)
    assert stats is not None
    svg = distribution_chart(values, stats)
    assert sum(int(n) for n in re.findall(r"<title>(\d+) runs from", svg)) == 60
    for name in ("median", "p90", "p99"):
        assert f"mark-{name}" in svg
    assert 'class="interval"' in svg


def test_one_run_has_no_interval() -> None:
    stats = summarize([5000])
    assert stats is not None
    svg = distribution_chart([5000], stats)
    assert 'class="interval"' not in svg
    assert "1 runs from" in svg


def test_series_has_a_dot_for_each_run_of_both_kinds() -> None:
    svg = series_chart([100, 200, 300], [90, 190])
    assert svg.count('class="dot profiled"') == 3
    assert svg.count('class="dot unprofiled"') == 2
    assert "run 3 with profiler: 300 ns" in svg


def test_long_series_is_drawn_with_a_bounded_number_of_points() -> None:
    svg = series_chart([1000 + i for i in range(50_000)], [])
    assert svg.count("L") < MOST_POINTS + 50
    assert "<circle" not in svg


def test_unit_fits_the_value() -> None:
    assert unit_of(2.5e9) == (1e9, "s")
    assert unit_of(999_999) == (1e3, "µs")
    assert unit_of(0) == (1.0, "ns")
