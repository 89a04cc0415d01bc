"""Risk: an axis without numbers, with too many, or with values outside of it."""

from __future__ import annotations

import random

import pytest

from cuvil_edge.report.charts.axes import Scale, decimals, linear_ticks, log_ticks, padded


def test_linear_ticks_are_round_inside_and_not_too_many() -> None:
    rng = random.Random(1)
    for _ in range(500):
        low = rng.uniform(-1e6, 1e6)
        high = low + 10 ** rng.uniform(-6, 9)
        ticks = linear_ticks(low, high)
        room = (high - low) * 1e-6
        assert 1 <= len(ticks) <= 7
        assert low - room <= ticks[0] <= ticks[-1] <= high + room


def test_known_ticks() -> None:
    assert linear_ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert linear_ticks(3, 3) == [3]
    assert log_ticks(1, 10_000) == [1, 10, 100, 1000, 10_000]
    assert log_ticks(3, 30) == [5, 10, 20]


def test_texts_of_neighbouring_ticks_differ() -> None:
    for low, high in ((0, 10), (1.0e6, 1.0002e6), (17e6, 21e6), (0, 3)):
        ticks = linear_ticks(low, high)
        texts = [decimals(ticks, 1e6)(tick) for tick in ticks]
        assert len(set(texts)) == len(texts) or high < 100
    assert decimals([17.0, 18.0])(17.0) == "17"
    assert decimals([5.0])(5.0) == "5.000"


def test_log_ticks_over_many_decades_are_thinned() -> None:
    assert 2 <= len(log_ticks(1, 1e30)) <= 8


@pytest.mark.parametrize("is_log", [False, True])
def test_scale_maps_ends_and_keeps_values_inside(is_log: bool) -> None:
    scale = Scale(1, 100, 10, 110, is_log)
    assert (scale(1), scale(100)) == (10, 110)
    assert (scale(0.001), scale(1e9)) == (10, 110)
    assert scale(10) == pytest.approx(60 if is_log else 10 + 900 / 99)


def test_range_of_equal_values_is_not_empty() -> None:
    for low, high in (padded(5, 5), padded(0, 0), padded(-3, 4)):
        assert low < high
