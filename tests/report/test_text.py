"""Risk: a number with the wrong unit, or a name that controls the terminal."""

from __future__ import annotations

from typing import Any

import pytest

from cuvil_edge.profile.records import ProfileTensor
from cuvil_edge.report.build import build_report
from cuvil_edge.report.text import (
    date_text,
    device_text,
    fact_text,
    latency_text,
    layers_text,
    percent_text,
    printable,
    rate_text,
    shape_text,
    short_layers_text,
    shorten,
    threads_text,
    time_text,
    verdict_text,
)
from tests.report.samples import make_counted, make_profile, make_step


def test_control_characters_become_visible() -> None:
    assert printable("a\x1b[31m\n\u202eb\x00") == r"a\x1b[31m\n\u202eb\x00"
    assert printable("层 é\u00b5") == "层 é\u00b5"
    assert printable("\ud800") == r"\ud800"


@pytest.mark.parametrize("width", range(3, 12))
def test_shortened_text_keeps_both_ends(width: int) -> None:
    short = shorten("abcdefghij", width)
    assert len(short) == min(width, 10)
    assert short[0] == "a"
    assert short[-1] == "j"


def test_numbers_that_are_missing_are_a_dash() -> None:
    assert {time_text(None), latency_text(None), percent_text(None), rate_text(None, "FLOP")} == {"-"}


def test_units() -> None:
    assert latency_text(17_503_210) == "17.5 ms"
    assert latency_text(17_513_210) == "17.51 ms"
    assert rate_text(999_900_000, "FLOP") == "1 GFLOP/s"
    assert percent_text(0.98765) == "98.8 %"
    assert threads_text(1) == "1 thread"


def test_shapes() -> None:
    assert shape_text(ProfileTensor("x", "f32", (1, 3, 224))) == "1x3x224"
    assert shape_text(ProfileTensor("x", "f32", ())) == "scalar"


@pytest.mark.parametrize(
    ("layers", "long", "short"),
    [
        (("/a/b/Conv", "/a/b/Relu"), "/a/b/Conv + /a/b/Relu", "/a/b/Conv + Relu"),
        (("/a/Conv", "/b/Add"), "/a/Conv + /b/Add", "/a/Conv + /b/Add"),
        (("Conv_0", "Relu_1"), "Conv_0 + Relu_1", "Conv_0 + Relu_1"),
        (("/a/", "/a/"), "/a/ + /a/", "/a/ + /a/"),
        ((), "Conv_0", "Conv_0"),
    ],
)
def test_names_of_fused_layers(layers: tuple[str, ...], long: str, short: str) -> None:
    row = build_report(make_profile(1, steps=(make_step(0, layers=layers),))).layers[0]
    assert (layers_text(row), short_layers_text(row)) == (long, short)


def test_dates_beyond_the_calendar() -> None:
    assert date_text(1_767_225_600_000_000_000) == "2026-01-01 00:00:00 UTC"
    assert "since 1970" in date_text(10**30)


def test_where_it_ran() -> None:
    assert device_text(build_report(make_profile()).header) == "pi5 over ssh"
    assert device_text(build_report(make_profile(transport="local")).header) == "pi5"
    assert device_text(build_report(make_counted()).header) == "under an emulator"


def test_verdict_of_counts_is_not_one_of_times() -> None:
    assert "no measurement of time" in verdict_text(build_report(make_counted()))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("temperature", {"cpu": 48_500}, "cpu: 48.5 °C"),
        ("clocks", {"cpu0": 2_400_000_000, "cpu4": 1_800_000_000}, "cpu0: 2.4 GHz, cpu4: 1.8 GHz"),
        ("governor", dict.fromkeys(("cpu0", "cpu1", "cpu2"), "ondemand"), "ondemand (all 3)"),
        ("memory", {"total_bytes": 8 << 30}, "total: 8 GiB"),
        ("throttling", {"now": [], "since_boot": ["undervoltage"]}, "now: (none), since boot: undervoltage"),
        ("cpu_features", ["fp", "asimd"], "fp asimd"),
        ("emulated", True, "yes"),
        ("load", {"one_minute": 0.08}, "one minute: 0.08"),
        ("libc", "glibc 2.36", "glibc 2.36"),
        ("anything", {}, "(none)"),
        ("anything", None, "-"),
        ("anything", {"a": {"b": 1}}, 'a: {"b": 1}'),
    ],
)
def test_facts(name: str, value: Any, expected: str) -> None:
    assert fact_text(name, value) == expected
