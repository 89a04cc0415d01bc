"""Formatting: the boundaries between units are where it goes wrong."""

from __future__ import annotations

import pytest

from cuvil_edge.units import format_bytes, format_count, format_hz, format_millidegrees, format_ns


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 ns"), (999, "999 ns"), (1000, "1 µs"), (1_230_000, "1.23 ms"), (2e9, "2 s"), (3.6e12, "3,600 s")],
)
def test_durations(value: float, text: str) -> None:
    assert format_ns(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 B"), (1023, "1,023 B"), (1024, "1 KiB"), (3 << 19, "1.5 MiB"), (5 << 30, "5 GiB")]
)
def test_sizes_are_binary(value: float, text: str) -> None:
    assert format_bytes(value) == text


def test_frequencies_and_counts_are_decimal() -> None:
    assert format_hz(2_400_000_000) == "2.4 GHz"
    assert format_hz(54_000) == "54 kHz"
    assert format_count(4_089_000_000, "FLOP") == "4.09 GFLOP"
    assert format_count(12) == "12"


def test_temperatures_keep_one_digit_and_their_sign() -> None:
    assert format_millidegrees(48_500) == "48.5 °C"
    assert format_millidegrees(-250) == "-0.2 °C"


def test_negative_values_scale_by_their_size() -> None:
    assert format_ns(-1_500) == "-1.5 µs"
