"""Layers against the board's limits (the roofline model: Williams, Waterman and Patterson 2009)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cuvil_edge.profile.records import BoardLimits
from cuvil_edge.report.charts.axes import (
    Scale,
    chart,
    frame,
    label,
    log_ticks,
    path,
    with_title,
    x_scale,
    y_scale,
)
from cuvil_edge.report.markup import Markup, tag
from cuvil_edge.report.model import LayerRow
from cuvil_edge.report.text import layers_text, percent_text, printable, rate_text, shorten
from cuvil_edge.units import format_count

_NAMED_LAYERS = 3
_LABEL_PIXELS = 100


def drawable_rows(rows: Sequence[LayerRow]) -> list[LayerRow]:
    """Layers that have a place in the chart: they compute, move bytes, and took a time."""
    return [row for row in rows if row.flops_per_second and row.flops_per_byte]


def roofline_chart(rows: Sequence[LayerRow], limits: BoardLimits | None) -> Markup:
    """FLOP per byte against FLOP per second, both logarithmic; the area of a dot is the layer's share of the time.

    ``rows`` must be those of :func:`drawable_rows`, and not be empty.
    """
    peak = limits.peak_flops_per_second if limits else None
    bandwidth = limits.memory_bytes_per_second if limits else None
    intensities = [row.flops_per_byte or 1.0 for row in rows]
    rates = [row.flops_per_second or 1.0 for row in rows]
    if peak and bandwidth:
        intensities.append(peak / bandwidth)
    x = x_scale(*_decades([*intensities]), is_log=True)
    y = y_scale(*_decades([*rates, *([peak] if peak else [])], room=1.6), is_log=True)
    axes = frame(
        x,
        y,
        x_ticks=log_ticks(x.low, x.high),
        y_ticks=log_ticks(y.low, y.high),
        x_text=lambda v: f"{v:g}",
        y_text=lambda v: format_count(v),
        x_title="FLOP per byte moved",
        y_title="FLOP/s",
    )
    dots = [_dot(row, x, y) for row in sorted(rows, key=lambda row: -(row.share or 0))]
    return chart("Roofline of the board with all layers", axes, _roof(x, y, peak, bandwidth), dots, _names(rows, x, y))


def _decades(values: Sequence[float], room: float = 1.25) -> tuple[float, float]:
    """A logarithmic range around the values, at least one decade."""
    low, high = min(values) / room, max(values) * room
    if high / low < 10:
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(10), middle * math.sqrt(10)
    return low, high


def _roof(x: Scale, y: Scale, peak: int | None, bandwidth: int | None) -> list[Markup]:
    """The two limits as one line, as far as they are known."""
    if not peak and not bandwidth:
        return []

    def attainable(intensity: float) -> float:
        return min(intensity * bandwidth if bandwidth else math.inf, peak or math.inf)

    begin = max(x.low, y.low / bandwidth) if bandwidth else x.low
    end = min(x.high, y.high / bandwidth) if bandwidth and not peak else x.high
    corner = [peak / bandwidth] if peak and bandwidth and begin < peak / bandwidth < end else []
    points = [(x(i), y(attainable(i))) for i in (begin, *corner, end)]
    texts = []
    if peak:
        texts.append(label(x.end - 2, y(float(peak)) - 6, f"peak {rate_text(peak, 'FLOP')}", anchor="end"))
    if bandwidth and math.dist(points[0], points[1]) > _LABEL_PIXELS:
        texts.append(_along(points[0], points[1], f"memory {rate_text(bandwidth, 'B')}"))
    return [tag("path", d=path(points), class_="roof"), *texts]


def _along(begin: tuple[float, float], end: tuple[float, float], text: str) -> Markup:
    """A text that lies on a line, above its middle."""
    angle = math.degrees(math.atan2(end[1] - begin[1], end[0] - begin[0]))
    middle = f"translate({(begin[0] + end[0]) / 2:.1f} {(begin[1] + end[1]) / 2:.1f}) rotate({angle:.1f})"
    return tag("text", text, x=0, y=-6, transform=middle, text_anchor="middle", class_="label")


def _radius(row: LayerRow) -> float:
    return 3 + 16 * math.sqrt(row.share or 0.0)


def _dot(row: LayerRow, x: Scale, y: Scale) -> Markup:
    text = (
        f"{layers_text(row)} ({row.op}): {rate_text(row.flops_per_second, 'FLOP')}, "
        f"{row.flops_per_byte or 0:.3g} FLOP/byte, {percent_text(row.share)} of the time"
    )
    if row.bound is not None:
        text += f", {percent_text(row.limit_share, 0)} of the {row.bound} limit"
    position = {"cx": x(row.flops_per_byte or 1.0), "cy": y(row.flops_per_second or 1.0)}
    return with_title("circle", text, **position, r=_radius(row), class_=f"dot-layer {row.bound or 'unknown'}")


def _names(rows: Sequence[LayerRow], x: Scale, y: Scale) -> list[Markup]:
    """Names of the slowest layers, where they do not cover each other."""
    placed: list[tuple[float, float]] = []
    texts = []
    for row in sorted(rows, key=lambda row: -(row.share or 0))[: _NAMED_LAYERS * 2]:
        px, py = x(row.flops_per_byte or 1.0), y(row.flops_per_second or 1.0)
        top = py + _radius(row) + 12
        if len(placed) == _NAMED_LAYERS or any(abs(px - a) < 110 and abs(top - b) < 14 for a, b in placed):
            continue
        placed.append((px, top))
        anchor = "end" if px > x.end - 50 else "start" if px < x.begin + 50 else "middle"
        texts.append(
            label(px, min(top, y.begin - 4), shorten(printable(row.name).rsplit("/", 1)[-1], 18), anchor=anchor)
        )
    return texts
