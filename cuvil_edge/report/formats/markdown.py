"""The report as Markdown (GitHub tables), for issues, pull requests and wikis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cuvil_edge.report.formats._base import ReportFormat
from cuvil_edge.report.model import Group, LayerRow, Report
from cuvil_edge.report.text import (
    bytes_text,
    count_text,
    date_text,
    device_text,
    fact_text,
    giga_text,
    latency_text,
    layers_text,
    per_flop_text,
    percent_text,
    printable,
    rate_text,
    shapes_text,
    symbols_text,
    time_text,
    verdict_text,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&@])")


def escape(text: str) -> str:
    """``text`` as plain words in a table cell: no markup, no HTML, no mention, no line break."""
    return _SPECIAL.sub(r"\\\1", printable(text)).replace("://", ":\u200b//")


class MarkdownFormat(ReportFormat):
    """Head, totals, layers by falling time, closure, warnings, facts."""

    name = "markdown"
    file_name = "report.md"

    def render(self, report: Report) -> str:
        """The whole document."""
        parts = [
            [f"# {escape(report.header.model)} on {escape(report.header.board)}"],
            [f"**{verdict_text(report)}.**", *([f"\n{report.note}"] if report.note else [])],
            _warnings(report),
            _table(("", ""), "lr", _header_rows(report)),
            ["## Layers", "", *_layers(report)],
            ["## By op", "", *_groups(report.by_op, report.is_timed)],
            ["## By kernel", "", *_groups(report.by_kernel, report.is_timed)],
            _closure(report),
            _facts(report),
        ]
        return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _table(head: Sequence[str], alignment: str, rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; cells must be escaped already. ``alignment`` has one letter, l or r, for each column."""
    marks = ["---:" if letter == "r" else ":---" for letter in alignment]
    return ["| " + " | ".join(line) + " |" for line in ([*head], marks, *([*row] for row in rows))]


def _header_rows(report: Report) -> list[tuple[str, str]]:
    header, totals = report.header, report.totals
    rows = [
        ("Device", escape(device_text(header))),
        ("Target", escape(header.target)),
        ("Threads", str(header.threads)),
        ("Symbols", escape(symbols_text(header.symbols))),
        ("Artifact", f"`{escape(header.artifact_sha256)}`"),
        ("Measured", date_text(header.created_unix_ns)),
        *_total_rows(report),
        ("Work", count_text(totals.flops, "FLOP")),
        ("Weights", bytes_text(totals.weights_bytes)),
    ]
    if report.arena is not None:
        planned, bound = report.arena.planned_bytes, report.arena.lower_bound_bytes
        rows.append(("Arena", f"{bytes_text(planned)} (lower bound {bytes_text(bound)})"))
    if totals.peak_rss_bytes is not None:
        rows.append(("Peak resident memory", bytes_text(totals.peak_rss_bytes)))
    if header.command:
        rows.append(("Command", escape(header.command)))
    return [row for row in rows if row[1]]


def _total_rows(report: Report) -> list[tuple[str, str]]:
    totals, latency = report.totals, report.totals.latency
    if latency is None:
        per_flop = totals.instructions_per_flop
        rows = [("Executed instructions", count_text(totals.instructions))]
        return rows + ([("Instructions per FLOP", f"{per_flop:.3g}")] if per_flop is not None else [])
    interval = latency.median_interval
    span = f" (95 %: {latency_text(interval.low)} to {latency_text(interval.high)})" if interval else ""
    return [
        ("Latency, median", f"**{latency_text(latency.median)}**{span}"),
        ("Latency, p90 / p99", f"{latency_text(latency.p90)} / {latency_text(latency.p99)}"),
        ("Latency, min / max", f"{latency_text(latency.min)} / {latency_text(latency.max)}"),
        ("Runs", f"{latency.count} after {report.header.warmup_runs} for warm-up"),
        ("Throughput", f"{totals.runs_per_second:.4g} runs/s" if totals.runs_per_second else ""),
        ("Rate", rate_text(totals.flops_per_second, "FLOP") if totals.flops_per_second else ""),
    ]


def _warnings(report: Report) -> list[str]:
    return [
        f"- **{escape(w.what)}**: {escape(w.found)} (expected: {escape(w.expected)}). {escape(w.hint)}."
        for w in report.warnings
    ]


def _layers(report: Report) -> list[str]:
    names = ("#", "Layers", "Op", "Kernel", "Out")
    if report.is_timed:
        head = (*names, "Median", "p90", "Share", "GFLOP/s", "GB/s", "Limit", "Bound")
        return _table(head, "rllllrrrrrrl", [_time_cells(row) for row in report.hottest()])
    counted = (*names, "Instructions", "Share", "Per FLOP")
    return _table(counted, "rllllrrr", [_instruction_cells(row) for row in report.hottest()])


def _name_cells(row: LayerRow) -> list[str]:
    shapes = shapes_text(row.outputs)
    return [str(row.index), escape(layers_text(row)), escape(row.op), escape(row.kernel), escape(shapes)]


def _time_cells(row: LayerRow) -> list[str]:
    return [
        *_name_cells(row),
        time_text(row.time.median if row.time else None),
        time_text(row.time.p90 if row.time else None),
        percent_text(row.share),
        giga_text(row.flops_per_second),
        giga_text(row.bytes_per_second),
        percent_text(row.limit_share, 0),
        row.bound or "",
    ]


def _instruction_cells(row: LayerRow) -> list[str]:
    count, per_flop = count_text(row.instructions), per_flop_text(row.instructions_per_flop)
    return [*_name_cells(row), count, percent_text(row.share), per_flop]


def _groups(groups: Sequence[Group], is_timed: bool) -> list[str]:
    head = ("Name", "Steps", "Time" if is_timed else "Instructions", "Share", "GFLOP/s" if is_timed else "FLOP")
    rows = (
        (
            escape(group.name),
            str(group.steps),
            time_text(group.time_ns) if is_timed else count_text(group.instructions),
            percent_text(group.share),
            giga_text(group.flops_per_second) if is_timed else count_text(group.flops),
        )
        for group in groups
    )
    return _table(head, "lrrrr", rows)


def _closure(report: Report) -> list[str]:
    closure = report.closure
    if closure is None:
        return []
    run = closure.shown_run
    parts = (
        ("layers", run.layers_ns),
        ("gaps between layers", run.gaps_ns),
        ("profiler", run.profiler_ns),
        ("= wall time", run.wall_ns),
    )
    rows = (
        (name, f"{value:,} ns", percent_text(value / run.wall_ns if run.wall_ns else None, 2)) for name, value in parts
    )
    return ["## Where the time goes (median run)", "", *_table(("Part", "Time", "Share"), "lrr", rows)]


def _facts(report: Report) -> list[str]:
    if not report.facts:
        return []
    rows = (
        (escape(f.name), escape(fact_text(f.name, f.before)), escape(fact_text(f.name, f.after))) for f in report.facts
    )
    return ["## Device", "", *_table(("Fact", "Before", "After"), "lll", rows)]
