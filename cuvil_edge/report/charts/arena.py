"""How full the arena is, step by step."""

from __future__ import annotations

from collections.abc import Sequence

from cuvil_edge.report.charts.axes import (
    Scale,
    chart,
    decimals,
    frame,
    label,
    linear_ticks,
    path,
    with_title,
    x_scale,
    y_scale,
)
from cuvil_edge.report.markup import Markup, tag
from cuvil_edge.report.model import Arena, LayerRow
from cuvil_edge.report.text import bytes_text, layers_text

_UNITS = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))


def arena_chart(arena: Arena, rows: Sequence[LayerRow]) -> Markup:
    """Live bytes of each step as an area, the planned size and the lower bound as lines."""
    top = max(arena.planned_bytes, arena.lower_bound_bytes, *arena.live_bytes, 1)
    steps = len(arena.live_bytes)
    x, y = x_scale(0, steps), y_scale(0, top * 1.15)
    factor, unit = next(((f, u) for f, u in _UNITS if top >= f), _UNITS[-1])
    ticks = [tick * factor for tick in linear_ticks(0, y.high / factor, 5)]
    axes = frame(
        x,
        y,
        x_ticks=[tick for tick in linear_ticks(0, steps) if tick == int(tick)],
        y_ticks=ticks,
        x_text=lambda v: f"{v:.0f}",
        y_text=decimals(ticks, factor),
        x_title="step of the plan",
        y_title=f"live bytes ({unit})",
    )
    outline = [(x(float(i + side)), y(float(live))) for i, live in enumerate(arena.live_bytes) for side in (0, 1)]
    area = [(x.begin, y.begin), *outline, (x.end, y.begin)]
    hits = [
        with_title(
            "rect",
            f"step {row.index} {layers_text(row)}: {bytes_text(live)} alive",
            x=x(float(row.index)),
            width=x(float(row.index + 1)) - x(float(row.index)),
            y=y.end,
            height=y.begin - y.end,
            class_="hit",
        )
        for row, live in zip(rows, arena.live_bytes, strict=True)
    ]
    return chart(
        f"Arena: {bytes_text(arena.planned_bytes)} planned, {bytes_text(max(arena.live_bytes))} alive at most",
        axes,
        tag("path", d=path(area) + " Z", class_="area"),
        tag("path", d=path(outline), class_="line arena"),
        _limits(arena, x, y),
        hits,
    )


def _limits(arena: Arena, x: Scale, y: Scale) -> list[Markup]:
    planned, bound = float(arena.planned_bytes), float(arena.lower_bound_bytes)
    lines = [
        tag("line", x1=x.begin, x2=x.end, y1=y(v), y2=y(v), class_=c)
        for v, c in ((bound, "bound"), (planned, "planned"))
    ]
    return [
        *lines,
        label(x.end - 2, y(planned) - 6, f"planned {bytes_text(planned)}", anchor="end"),
        label(x.begin + 6, y(bound) - 6, f"lower bound {bytes_text(bound)}", anchor="start"),
    ]
