"""Risk: a trace that Perfetto or a script refuses: events out of order, not nested, or of unknown form."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from cuvil_edge.report.build import build_report
from cuvil_edge.report.formats import trace
from cuvil_edge.report.formats.trace import TraceFormat
from cuvil_edge.report.model import Report
from tests.report.samples import make_counted, make_profile


def events(report: Report, phase: str = "") -> list[dict[str, Any]]:
    everything = json.loads(TraceFormat().render(report))["traceEvents"]
    return [event for event in everything if not phase or event["ph"] == phase]


def test_events_have_the_keys_that_viewers_need(any_report: Report) -> None:
    for event in events(any_report):
        assert {"ph", "name", "pid", "tid", "ts", "args"} <= set(event)
        assert event["ph"] in "XMC"
        assert event["ts"] >= 0
        assert (event["ph"] == "X") == ("dur" in event)


def test_time_never_goes_back_on_a_track(any_report: Report) -> None:
    last: dict[int, float] = {}
    for event in events(any_report, "X"):
        assert event["ts"] >= last.get(event["tid"], 0)
        last[event["tid"]] = event["ts"]


def test_steps_nest_in_their_run_and_runs_do_not_touch() -> None:
    complete = events(build_report(make_profile()), "X")
    runs = [e for e in complete if e["cat"] == "Session"]
    steps = [e for e in complete if e["cat"] == "Node"]
    assert (len(runs), len(steps)) == (24, 36)
    for first, second in pairwise(runs):
        assert first["ts"] + first["dur"] <= second["ts"]
    for step in steps:
        assert any(r["ts"] <= step["ts"] and step["ts"] + step["dur"] <= r["ts"] + r["dur"] for r in runs)


def test_keys_of_onnx_runtime_profiles() -> None:
    step = next(e for e in events(build_report(make_profile()), "X") if e["cat"] == "Node")
    assert step["name"] == "Conv_0_kernel_time"
    assert step["args"]["op_name"] == "conv"
    assert step["args"]["provider"] == "CPUExecutionProvider"
    assert (step["ts"], step["dur"]) == (1, 1000)


def test_arena_is_a_counter() -> None:
    counters = events(build_report(make_profile(runs=1)), "C")
    assert [event["args"]["live_bytes"] for event in counters] == [500, 1000, 1000]


def test_tracks_have_names() -> None:
    names = {event["args"]["name"] for event in events(build_report(make_profile()), "M")}
    assert "plan (4 threads)" in names


def test_axis_of_instruction_counts_says_that_it_is_no_time() -> None:
    report = build_report(make_counted())
    names = [event["args"]["name"] for event in events(report, "M")]
    assert any("not a time" in name for name in names)
    steps = [e for e in events(report, "X") if e["cat"] == "Node"]
    assert [e["args"]["instructions"] for e in steps] == [1_000_000, 2_000_000, 3_000_000]


def test_size_is_bounded_and_says_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MOST_STEP_EVENTS", 10)
    report = build_report(make_profile(3, runs=12))
    document = json.loads(TraceFormat().render(report))
    assert document["otherData"]["runs_left_out"] == 9
    assert sum(event.get("cat") == "Node" for event in document["traceEvents"]) == 9
