"""The report for a terminal: aligned, one screen wide, with colour only when asked for."""

from __future__ import annotations

from collections.abc import Sequence

from cuvil_edge.profile.statistics import Statistics
from cuvil_edge.report.formats._base import ReportFormat
from cuvil_edge.report.model import Closure, Group, LayerRow, Report, TrustWarning
from cuvil_edge.report.text import (
    bytes_text,
    count_text,
    date_text,
    device_text,
    giga_text,
    latency_text,
    per_flop_text,
    percent_text,
    printable,
    rate_text,
    shape_text,
    short_layers_text,
    shorten,
    symbols_text,
    threads_text,
    time_text,
    verdict_text,
)

_COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_VERDICT_COLOURS = {"trusted": "green", "doubtful": "yellow", "untrusted": "red"}
_MARKS = {"note": "·", "doubtful": "!", "untrusted": "✗"}


class TerminalFormat(ReportFormat):
    """Text for people; the last line is in the form that LiteRT's benchmark prints, in microseconds.

    Args:
        colour: use ANSI colours.
        width: columns of the terminal; long names are shortened to fit.
        top: how many layers to list; None lists all.
    """

    name = "terminal"
    file_name = "report.txt"

    def __init__(self, *, colour: bool = False, width: int = 120, top: int | None = 15) -> None:
        self._colour, self._width, self._top = colour, max(width, 60), top

    def render(self, report: Report) -> str:
        """The report as lines that end with a newline."""
        parts = [
            self._head(report),
            self._totals(report),
            self._layers(report),
            self._by_op(report.by_op),
            self._closure(report.closure) if report.closure else [],
            self._memory(report),
            self._trust(report),
            _benchmark_lines(report),
        ]
        return "\n\n".join("\n".join(part) for part in parts if part) + "\n"

    def _paint(self, text: str, colour: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self._colour else text

    def _title(self, text: str) -> str:
        return self._paint(text, "bold")

    def _head(self, report: Report) -> list[str]:
        header = report.header
        model = shorten(printable(header.model), self._width // 2)
        where = [header.board, device_text(header), threads_text(header.threads), symbols_text(header.symbols)]
        lines = [
            self._title(model) + "  " + printable(" · ".join(part for part in where if part)),
            self._paint(
                printable(f"target {header.target} · artifact {header.artifact_sha256[:12]}")
                + f" · {date_text(header.created_unix_ns)}",
                "dim",
            ),
        ]
        return lines if report.note is None else [*lines, "", *_wrap(report.note, self._width)]

    def _totals(self, report: Report) -> list[str]:
        totals = report.totals
        lines = []
        if (latency := totals.latency) is not None:
            lines = [self._title("Latency"), *_latency(latency, totals.runs_per_second)]
        elif totals.instructions is not None:
            per_flop = totals.instructions_per_flop
            lines = [
                self._title("Executed instructions"),
                f"  {count_text(totals.instructions, ' instructions')} in one run"
                + (f", {per_flop:.3g} per FLOP" if per_flop is not None else ""),
            ]
        work = f"  {count_text(totals.flops, 'FLOP')}"
        if totals.flops_per_second:
            work += f", {rate_text(totals.flops_per_second, 'FLOP')}"
            work += f" ({percent_text(totals.peak_share, 0)} of the board's peak)" if totals.peak_share else ""
        return [*lines, f"{work}, {bytes_text(totals.weights_bytes)} of weights"]

    def _layers(self, report: Report) -> list[str]:
        rows = report.hottest(self._top)
        if not rows:
            return ["The plan has no steps."]
        count, all_count = len(rows), len(report.layers)
        order = "slowest" if report.is_timed else "most instructions"
        title = f"Layers, {order} first" + (f" ({count} of {all_count})" if count < all_count else "")
        table = _table(rows, _columns(report, self._width), self._width)
        return [self._title(title), self._paint(table[0], "dim"), *table[1:]]

    def _by_op(self, groups: Sequence[Group]) -> list[str]:
        if len(groups) < 2:
            return []
        lines = [self._title("By op")]
        for group in groups[:8]:
            amount = time_text(group.time_ns) if group.time_ns is not None else count_text(group.instructions)
            bar = self._paint("█" * round(30 * (group.share or 0)), "cyan")
            steps = f"{group.steps} step{'s' if group.steps != 1 else ''}"
            name = shorten(printable(group.name), 24)
            line = f"  {name:<24} {amount:>10} {percent_text(group.share):>8}  {steps:>10}  {bar}"
            lines.append(line.rstrip())
        return lines

    def _closure(self, closure: Closure) -> list[str]:
        run = closure.shown_run
        rows = (
            ("layers", run.layers_ns),
            ("gaps between layers", run.gaps_ns),
            ("profiler", run.profiler_ns),
            ("= wall time", run.wall_ns),
        )
        lines = [self._title(f"Where the time goes (run {closure.shown + 1} of {len(closure.runs)}, the median)")]
        for label, value in rows:
            share = value / run.wall_ns if run.wall_ns else None
            lines.append(f"  {label:<20} {value:>14,} ns {percent_text(share, 2):>9}")
        if closure.slowdown is not None:
            lines.append(
                f"  without the profiler a run takes {latency_text(closure.unprofiled_median_ns)}, "
                f"with it {latency_text(closure.profiled_median_ns)} ({closure.slowdown:+.1%})"
            )
        return lines

    def _memory(self, report: Report) -> list[str]:
        arena, rss = report.arena, report.totals.peak_rss_bytes
        lines = []
        if arena is not None:
            over = f" (+{arena.planned_bytes / arena.lower_bound_bytes - 1:.1%})" if arena.lower_bound_bytes else ""
            step = report.layers[arena.peak_step].name
            lines.append(
                f"  arena {bytes_text(arena.planned_bytes)} planned, {bytes_text(arena.lower_bound_bytes)} lower bound"
                f"{over.replace('+-', '-')}; the most is alive in {shorten(printable(step), 40)}"
            )
        if rss is not None:
            lines.append(f"  peak resident memory {bytes_text(rss)}")
        return [self._title("Memory"), *lines] if lines else []

    def _trust(self, report: Report) -> list[str]:
        lines = [self._paint(verdict_text(report) + ".", _VERDICT_COLOURS[report.verdict])]
        for warning in report.warnings:
            lines += self._warning(warning)
        return lines

    def _warning(self, warning: TrustWarning) -> list[str]:
        colour = {"note": "dim", "doubtful": "yellow", "untrusted": "red"}[warning.severity]
        return [
            f"  {self._paint(_MARKS[warning.severity] + ' ' + printable(warning.what), colour)}: "
            f"{printable(warning.found)} (expected: {printable(warning.expected)})",
            f"    {self._paint('hint: ' + printable(warning.hint), 'dim')}",
        ]


def _latency(stats: Statistics, runs_per_second: float | None) -> list[str]:
    interval = stats.median_interval
    span = f"  95 % [{latency_text(interval.low)} .. {latency_text(interval.high)}]" if interval else ""
    rate = f"  {runs_per_second:.4g} runs/s" if runs_per_second else ""
    return [
        f"  median {latency_text(stats.median)}{span}{rate}",
        f"  p90 {latency_text(stats.p90)}  p99 {latency_text(stats.p99)}  min {latency_text(stats.min)}"
        f"  max {latency_text(stats.max)}  mean {latency_text(stats.mean)}  ({stats.count} runs)",
    ]


def _columns(report: Report, width: int) -> tuple[str, ...]:
    """The heads of the columns that there is data and room for."""
    kernel = ("kernel",) if width >= _WIDE else ()
    names = ("#", "layers", "op", *kernel, "out")
    if not report.is_timed:
        return (*names, "instructions", "share", "per FLOP")
    limits = ("% limit", "bound") if report.limits else ()
    return (*names, "median", "p90", "share", "GFLOP/s", "GB/s", *limits)


_WIDE = 140
_LEFT_COLUMNS = ("layers", "op", "kernel", "out", "bound")
_SHRINKING = (
    ("kernel", 24),
    ("layers", 40),
    ("out", 12),
    ("op", 12),
    ("layers", 24),
    ("kernel", 12),
    ("op", 6),
    ("layers", 10),
)
"""Where a table that is too wide gives way: columns in this order, each down to that width."""


def _cell(row: LayerRow, column: str) -> str:
    time = row.time
    text = {
        "#": str(row.index),
        "layers": short_layers_text(row),
        "op": row.op,
        "kernel": row.kernel,
        "out": " ".join(shape_text(tensor) for tensor in row.outputs[:1]),
        "median": time_text(time.median if time else None),
        "p90": time_text(time.p90 if time else None),
        "share": percent_text(row.share),
        "GFLOP/s": giga_text(row.flops_per_second),
        "GB/s": giga_text(row.bytes_per_second),
        "% limit": percent_text(row.limit_share, 0),
        "bound": row.bound or "",
        "instructions": count_text(row.instructions),
        "per FLOP": per_flop_text(row.instructions_per_flop),
    }[column]
    return printable(text)


def _table(rows: Sequence[LayerRow], columns: Sequence[str], width: int) -> list[str]:
    """Aligned lines, the head first, at most ``width`` wide unless every name is short already."""
    cells = [list(columns)] + [[_cell(row, column) for column in columns] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    excess = sum(widths) + 2 * len(columns) - width
    for column, least in _SHRINKING:
        if column not in columns:
            continue
        i = columns.index(column)
        cut = max(0, min(excess, widths[i] - least))
        widths[i] -= cut
        excess -= cut
    lines = []
    for line in cells:
        parts = [_aligned(shorten(t, widths[i]), widths[i], columns[i]) for i, t in enumerate(line)]
        lines.append(("  " + "  ".join(parts)).rstrip())
    return lines


def _aligned(text: str, width: int, column: str) -> str:
    return text.ljust(width) if column in _LEFT_COLUMNS else text.rjust(width)


def _wrap(text: str, width: int) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


def _benchmark_lines(report: Report) -> list[str]:
    stats = report.totals.latency
    if stats is None:
        return []
    values = {"first": stats.first, "curr": stats.last, "min": stats.min, "max": stats.max, "avg": stats.mean}
    numbers = " ".join(f"{key}={value / 1e3:.6g}" for key, value in values.items())
    return [f"count={stats.count} {numbers} std={stats.std / 1e3:.6g}"]
