"""Risk: a timeline that is not the live bytes of the steps."""

from __future__ import annotations

import re

from cuvil_edge.profile.records import ProfileSlot
from cuvil_edge.report.build import build_report
from cuvil_edge.report.charts.arena import arena_chart
from cuvil_edge.report.markup import Markup
from tests.report.samples import make_profile


def chart(**changes: object) -> Markup:
    report = build_report(make_profile(**changes))
    assert report.arena is not None
    return arena_chart(report.arena, report.layers)


def test_each_step_has_its_live_bytes() -> None:
    svg = chart()
    assert re.findall(r"<title>step (\d) .*?: ([\d,]+) B alive", svg) == [("0", "500"), ("1", "1,000"), ("2", "1,000")]


def test_height_grows_with_the_bytes() -> None:
    data = re.search(r'<path d="([^"]+)" class="line arena"', chart())
    assert data is not None
    heights = [float(y) for _, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", data[1])]
    assert heights[0] == heights[1] > heights[2] == heights[3] == heights[4]


def test_planned_size_and_lower_bound_are_named() -> None:
    svg = chart(arena_bytes=3 << 20, arena_lower_bound_bytes=2 << 20)
    assert "planned 3 MiB" in svg
    assert "lower bound 2 MiB" in svg


def test_slots_without_bytes() -> None:
    slots = (ProfileSlot(kind="arena", first_step=0, last_step=0, bytes=0),)
    assert "0 B alive" in chart(slots=slots, arena_bytes=0, arena_lower_bound_bytes=0)
