"""How run times are distributed, and how they went over time."""

from __future__ import annotations

from collections.abc import Sequence

from cuvil_edge.profile.statistics import Statistics, histogram
from cuvil_edge.report.charts.axes import (
    Scale,
    chart,
    decimals,
    frame,
    label,
    linear_ticks,
    padded,
    path,
    with_title,
    x_scale,
    y_scale,
)
from cuvil_edge.report.markup import Child, Markup, tag
from cuvil_edge.report.text import latency_text

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
MOST_POINTS = 2000


def unit_of(value_ns: float) -> tuple[float, str]:
    """The factor and name of the unit in which a duration is best read."""
    return next(((factor, name) for factor, name in _UNITS if value_ns >= factor), _UNITS[-1])


def distribution_chart(values_ns: Sequence[int], stats: Statistics) -> Markup:
    """A histogram with the median, its interval, p90 and p99."""
    edges, counts = histogram(values_ns)
    room = 0.005 * stats.median  # equal runs are a narrow bar, not a wide one over a millionth of a second
    x = x_scale(*padded(min(edges[0], stats.min - room), max(edges[-1], stats.max + room), 0.04))
    y = y_scale(0, max(counts) * 1.18)
    factor, unit = unit_of(stats.median)
    ticks = linear_ticks(x.low, x.high)
    bars = [
        with_title(
            "rect",
            f"{count} runs from {latency_text(low)} to {latency_text(high)}",
            x=x(low) + 0.5,
            width=max(x(high) - x(low) - 1, 2.0),
            y=y(count),
            height=y.begin - y(count),
            class_="bar",
        )
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
        if count
    ]
    axes = frame(
        x,
        y,
        x_ticks=ticks,
        y_ticks=[tick for tick in linear_ticks(0, y.high, 5) if tick == int(tick)],
        x_text=decimals(ticks, factor),
        y_text=lambda v: f"{v:.0f}",
        x_title=f"time of a run ({unit})",
        y_title="runs",
    )
    interval = stats.median_interval
    band: Child = None
    if interval is not None:
        band = with_title(
            "rect",
            f"95 % interval of the median: {latency_text(interval.low)} to {latency_text(interval.high)}",
            x=x(interval.low),
            width=max(x(interval.high) - x(interval.low), 1.0),
            y=y.end,
            height=y.begin - y.end,
            class_="interval",
        )
    marks = [
        _mark(x(value), y.end, y.begin, name, latency_text(value), row)
        for row, (name, value) in enumerate((("median", stats.median), ("p90", stats.p90), ("p99", stats.p99)))
    ]
    return chart(
        f"Histogram of {stats.count} runs: median {latency_text(stats.median)}, p99 {latency_text(stats.p99)}",
        band,
        axes,
        bars,
        marks,
    )


def _mark(x: float, top: float, bottom: float, name: str, value: str, row: int) -> list[Markup]:
    """A vertical line with its name, each on a row of its own so that close ones stay readable."""
    near_right = x > 470
    return [
        with_title("line", f"{name} {value}", x1=x, x2=x, y1=top, y2=bottom, class_=f"mark mark-{name}"),
        label(
            x - 4 if near_right else x + 4,
            top + 9 + 13 * row,
            name,
            anchor="end" if near_right else "start",
            class_="label",
        ),
    ]


def series_chart(profiled_ns: Sequence[int], unprofiled_ns: Sequence[int]) -> Markup:
    """Run times in the order they were measured: throttling shows as a slope, other load as spikes."""
    everything = [*profiled_ns, *unprofiled_ns]
    x = x_scale(0, max(len(profiled_ns), len(unprofiled_ns), 2) - 1)
    y = y_scale(*padded(min(everything), max(everything), 0.12))
    factor, unit = unit_of(max(everything))
    ticks = linear_ticks(y.low, y.high, 5)
    axes = frame(
        x,
        y,
        x_ticks=[tick for tick in linear_ticks(x.low, x.high) if tick == int(tick)],
        y_ticks=ticks,
        x_text=lambda v: f"{v + 1:.0f}",
        y_text=decimals(ticks, factor),
        x_title="run",
        y_title=f"time of a run ({unit})",
    )
    both = (("profiled", profiled_ns, "with profiler"), ("unprofiled", unprofiled_ns, "without profiler"))
    lines = [_line(name, values, text, x, y) for name, values, text in both if values]
    return chart(f"Times of {len(everything)} runs in order", axes, lines)


def _line(name: str, values: Sequence[int], text: str, x: Scale, y: Scale) -> list[Markup]:
    stride = -(-len(values) // MOST_POINTS)
    points = [(x(float(i)), y(float(values[i]))) for i in range(0, len(values), stride)]
    dots = [
        with_title(
            "circle",
            f"run {i * stride + 1} {text}: {latency_text(values[i * stride])}",
            cx=px,
            cy=py,
            r=2.6,
            class_=f"dot {name}",
        )
        for i, (px, py) in enumerate(points if len(points) <= 200 else ())
    ]
    return [tag("path", d=path(points), class_=f"line {name}"), *dots]
