"""Scales, ticks and the frame that all charts share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cuvil_edge.report.markup import Child, Markup, join, tag

WIDTH, HEIGHT = 560.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 68.0, 16.0, 14.0, 44.0


@dataclass(frozen=True)
class Scale:
    """Maps [low, high] to [begin, end] pixels, linearly or by logarithm (then 0 < low < high)."""

    low: float
    high: float
    begin: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value; values outside are drawn at the edge."""
        value = min(max(value, self.low), self.high)
        if self.high == self.low:
            return (self.begin + self.end) / 2
        if self.is_log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)


def x_scale(low: float, high: float, *, is_log: bool = False) -> Scale:
    """A horizontal scale over the plot area."""
    return Scale(low, high, _LEFT, WIDTH - _RIGHT, is_log)


def y_scale(low: float, high: float, *, is_log: bool = False) -> Scale:
    """A vertical scale over the plot area, growing upwards."""
    return Scale(low, high, HEIGHT - _BOTTOM, _TOP, is_log)


def linear_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers in [low, high]: multiples of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def decimals(ticks: Sequence[float], factor: float = 1.0) -> Callable[[float], str]:
    """A format for linear ticks in units of ``factor``, with just the decimals that tell them apart."""
    step = min((b - a for a, b in pairwise(ticks)), default=0.0) / factor
    digits = min(6, max(0, -math.floor(math.log10(step) + 1e-9))) if step > 0 else 3
    return lambda value: f"{value / factor:.{digits}f}"


def log_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Powers of ten in [low, high], thinned to at most ``most``; with 2 and 5 times them where there are few."""
    powers = range(math.floor(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    inside = [10.0**power for power in powers if low <= 10.0**power <= high]
    if len(inside) <= 2:
        ticks = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        return [tick for tick in ticks if low <= tick <= high]
    return inside[:: max(1, math.ceil(len(inside) / most))]


def padded(low: float, high: float, share: float = 0.06) -> tuple[float, float]:
    """A range with room at both ends; never empty."""
    room = (high - low) * share or abs(high) * share or 1.0
    return low - room, high + room


def frame(
    x: Scale,
    y: Scale,
    *,
    x_ticks: Sequence[float],
    y_ticks: Sequence[float],
    x_text: Callable[[float], str],
    y_text: Callable[[float], str],
    x_title: str,
    y_title: str,
) -> Markup:
    """Grid, tick labels and axis titles."""
    grid = [tag("line", x1=x.begin, x2=x.end, y1=y(v), y2=y(v), class_="grid") for v in y_ticks]
    labels = [label(x.begin - 8, y(v) + 4, y_text(v), anchor="end", class_="tick") for v in y_ticks]
    labels += [label(x(v), y.begin + 18, x_text(v), class_="tick") for v in x_ticks]
    marks = [tag("line", x1=x(v), x2=x(v), y1=y.begin, y2=y.begin + 4, class_="axis") for v in x_ticks]
    base = tag("line", x1=x.begin, x2=x.end, y1=y.begin, y2=y.begin, class_="axis")
    titles = [
        label((x.begin + x.end) / 2, HEIGHT - 6, x_title, class_="axis-title"),
        tag(
            "text",
            y_title,
            x=0,
            y=0,
            transform=f"translate(11 {(y.begin + y.end) / 2:.1f}) rotate(-90)",
            text_anchor="middle",
            class_="axis-title",
        ),
    ]
    return join(grid, marks, base, labels, titles)


def label(x: float, y: float, text: str, *, anchor: str = "middle", class_: str = "label") -> Markup:
    """A text whose ``anchor`` ("start", "middle" or "end") stands at (x, y)."""
    return tag("text", text, x=x, y=y, text_anchor=anchor, class_=class_)


def chart(title: str, *children: Child) -> Markup:
    """The SVG element; ``title`` is what a screen reader says."""
    return tag(
        "svg",
        children,
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        role="img",
        aria_label=title,
        class_="chart",
    )


def path(points: Sequence[tuple[float, float]]) -> str:
    """Path data through ``points``."""
    return " ".join(f"{'L' if i else 'M'}{px:.2f} {py:.2f}" for i, (px, py) in enumerate(points))


def with_title(shape: str, text: str, **attributes: str | float | None) -> Markup:
    """A shape that shows ``text`` when pointed at."""
    return tag(shape, tag("title", text), **attributes)
