"""Risk: numbers that look right and are not; every report and comparison stands on these."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.profile.statistics import (
    drift,
    histogram,
    median_interval,
    outlier_counts,
    percentile,
    ratio_interval,
    spread,
    summarize,
    trend,
)


def test_summary_of_known_numbers() -> None:
    stats = summarize([4, 1, 3, 2, 5])
    assert stats is not None
    assert (stats.count, stats.first, stats.last, stats.min, stats.max) == (5, 4, 5, 1, 5)
    assert (stats.median, stats.mean) == (3, 3)
    assert stats.std == pytest.approx(np.sqrt(2))
    assert stats.p90 == pytest.approx(4.6)
    assert stats.spread == pytest.approx(2 / 3)


def test_empty_series_has_no_summary() -> None:
    assert summarize([]) is None


def test_one_value_has_no_interval() -> None:
    stats = summarize([7])
    assert stats is not None
    assert stats.median_interval is None
    assert (stats.median, stats.p99, stats.std, stats.spread) == (7, 7, 0, 0)


def test_percentile_interpolates() -> None:
    assert percentile([0, 10], 25) == 2.5
    assert percentile([1, 2, 3, 4], 50) == 2.5


def test_interval_is_the_same_each_time_and_holds_the_median() -> None:
    values = np.random.default_rng(1).normal(100, 5, 50)
    first, second = median_interval(values), median_interval(values)
    assert first == second
    assert first is not None
    assert first.contains(float(np.median(values)))
    assert first.high - first.low < 5


def test_interval_narrows_with_more_runs() -> None:
    rng = np.random.default_rng(2)
    few, many = median_interval(rng.normal(100, 5, 20)), median_interval(rng.normal(100, 5, 2000))
    assert few is not None
    assert many is not None
    assert many.high - many.low < (few.high - few.low) / 3


def test_interval_covers_the_true_median_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    intervals = [median_interval(rng.normal(100, 5, 31), resamples=400) for _ in range(200)]
    covered = sum(interval is not None and interval.contains(100.0) for interval in intervals)
    assert 0.88 * 200 <= covered <= 200


def test_interval_of_many_values_needs_bounded_memory() -> None:
    interval = median_interval(np.arange(300_000.0), resamples=8)
    assert interval is not None
    assert interval.low <= 149_999.5 <= interval.high


def test_ratio_interval_excludes_one_where_runs_differ() -> None:
    rng = np.random.default_rng(4)
    slow, fast = rng.normal(110, 2, 40), rng.normal(100, 2, 40)
    different, same = ratio_interval(list(slow), list(fast)), ratio_interval(list(fast), list(fast))
    assert different is not None
    assert different.low > 1.05
    assert same is not None
    assert same.contains(1.0)


@pytest.mark.parametrize(("values", "reference"), [([1], [1, 2]), ([1, 2], [1]), ([1, 2], [0, 1])])
def test_ratio_without_enough_data_has_no_interval(values: list[float], reference: list[float]) -> None:
    assert ratio_interval(values, reference) is None


def test_outliers_are_counted_on_their_side() -> None:
    assert outlier_counts([*range(100, 120), 1000]) == (0, 1)
    assert outlier_counts([*range(100, 120), 1]) == (1, 0)
    assert outlier_counts([5, 5, 5, 5]) == (0, 0)


def test_spread_of_zeros_is_zero() -> None:
    assert spread([0, 0, 0]) == 0


def test_trend_finds_a_throttle_slope_through_outliers() -> None:
    rising = [1000 + 10 * i for i in range(30)]
    rising[7] = rising[19] = 9000
    assert trend(rising) == pytest.approx(0.25, abs=0.02)
    assert trend([1000] * 30) == 0
    assert trend([3, 2, 1]) == 0


def test_trend_of_a_long_series_is_the_same_as_of_its_blocks() -> None:
    assert trend([1000 + i for i in range(1000)]) == pytest.approx(999 / 1499.5, abs=0.01)


def test_drift_compares_quarters() -> None:
    assert drift([100] * 10 + [120] * 10) == pytest.approx(0.2)
    assert drift([120] * 10 + [100] * 10) == pytest.approx(-1 / 6)
    assert drift([1, 2, 3]) == 0
    assert drift([100, 140, 100, 140] + [110] * 8 + [120, 160, 120, 160]) == 0
    assert drift([0] * 20) == 0


@pytest.mark.parametrize("values", [[5], [5, 5, 5], [1, 2, 3, 4, 100], list(range(1000)), [0, 0, 0, 1]])
def test_histogram_counts_every_value_once(values: list[float]) -> None:
    edges, counts = histogram(values, most_bins=40)
    assert sum(counts) == len(values)
    assert len(edges) == len(counts) + 1 <= 41
    assert edges[0] <= min(values) <= max(values) <= edges[-1]
