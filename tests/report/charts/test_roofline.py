"""Risk: a layer in the wrong place, above a roof that it did not break."""

from __future__ import annotations

import re

from cuvil_edge.profile.records import BoardLimits
from cuvil_edge.report.build import build_report
from cuvil_edge.report.charts.roofline import drawable_rows, roofline_chart
from tests.report.samples import GIGA, make_counted, make_profile, make_step


def dots(svg: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)]


def roof(svg: str) -> list[tuple[float, float]]:
    data = re.search(r'<path d="([^"]+)" class="roof"', svg)
    assert data is not None
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", data[1])]


def test_only_layers_that_compute_move_and_took_time_have_a_place() -> None:
    steps = (make_step(0), make_step(1, flops=0), make_step(2, bytes_read=0, bytes_written=0))
    assert [row.index for row in drawable_rows(build_report(make_profile(3, steps=steps)).layers)] == [0]
    assert drawable_rows(build_report(make_counted()).layers) == []


def test_layer_at_the_limit_touches_the_roof() -> None:
    # 2 MFLOP in 1 ms are 2 GFLOP/s: exactly the peak; 1000 bytes in 1 ms are far below the bandwidth.
    limits = BoardLimits(peak_flops_per_second=2 * GIGA, memory_bytes_per_second=GIGA)
    report = build_report(make_profile(1, board_limits=limits))
    svg = roofline_chart(drawable_rows(report.layers), report.limits)
    assert dots(svg)[0][1] == roof(svg)[-1][1]


def test_faster_layers_are_higher_and_denser_ones_further_right() -> None:
    steps = (make_step(0), make_step(1, bytes_read=60_000))
    report = build_report(make_profile(2, steps=steps))
    svg = roofline_chart(drawable_rows(report.layers), report.limits)
    slow, fast = sorted(dots(svg), key=lambda dot: -dot[1])
    assert fast[0] > slow[0]


def test_roof_bends_once_where_both_limits_are_known() -> None:
    report = build_report(
        make_profile(board_limits=BoardLimits(peak_flops_per_second=GIGA, memory_bytes_per_second=GIGA))
    )
    points = roof(roofline_chart(drawable_rows(report.layers), report.limits))
    assert len(points) == 3
    assert points[0][1] > points[1][1] == points[2][1]


def test_one_limit_or_none_draws_what_is_known() -> None:
    rows = drawable_rows(build_report(make_profile()).layers)
    assert len(roof(roofline_chart(rows, BoardLimits(peak_flops_per_second=GIGA)))) == 2
    assert len(roof(roofline_chart(rows, BoardLimits(memory_bytes_per_second=GIGA)))) == 2
    assert 'class="roof"' not in roofline_chart(rows, None)
