"""The top of the page: what was measured, whether it can be trusted, and the numbers people look for first."""

from __future__ import annotations

from cuvil_edge.report.markup import Child, Markup, tag
from cuvil_edge.report.model import Report, TrustWarning
from cuvil_edge.report.text import (
    bytes_text,
    count_text,
    date_text,
    device_text,
    latency_text,
    per_flop_text,
    percent_text,
    rate_text,
    symbols_text,
    threads_text,
    verdict_text,
)

_ICONS = {"trusted": "✓", "doubtful": "!", "untrusted": "✕"}
_WORDS = {"note": "note", "doubtful": "doubtful", "untrusted": "untrusted"}


def title_section(report: Report) -> Markup:
    """Model, board, and the circumstances as chips."""
    header = report.header
    chips = [
        device_text(header),
        threads_text(header.threads),
        symbols_text(header.symbols),
        f"target {header.target}",
        date_text(header.created_unix_ns),
    ]
    return tag(
        "header",
        tag("p", "cuvil-edge profile", class_="eyebrow"),
        tag("h1", header.model, tag("span", " on ", class_="quiet"), header.board),
        tag("ul", (tag("li", chip) for chip in chips if chip), class_="chips"),
        class_="top",
    )


def verdict_section(report: Report) -> Markup:
    """The banner with the verdict and every warning, and what the numbers are where they are not times."""
    return tag(
        "section",
        tag(
            "div",
            tag("span", _ICONS[report.verdict], class_="icon", aria_hidden="true"),
            tag("h2", verdict_text(report)),
            class_="verdict-head",
        ),
        tag("p", report.note) if report.note else None,
        tag("ul", (_warning(w) for w in report.warnings), class_="warnings") if report.warnings else None,
        class_=f"verdict {report.verdict}",
        aria_label="Verdict",
    )


def _warning(warning: TrustWarning) -> Markup:
    return tag(
        "li",
        tag("span", _WORDS[warning.severity], class_=f"badge {warning.severity}"),
        tag(
            "div",
            tag("strong", warning.what),
            f": {warning.found} ",
            tag("span", f"(expected: {warning.expected})", class_="quiet"),
        ),
        tag("div", warning.hint, class_="hint"),
    )


def tiles_section(report: Report) -> Markup:
    """The main numbers."""
    tiles = [*(_time_tiles(report) if report.is_timed else _instruction_tiles(report)), *_memory_tiles(report)]
    return tag("section", tiles, class_="tiles", aria_label="Main numbers")


def _tile(name: str, value: str, *notes: Child) -> Markup:
    lines = [tag("div", note, class_="tile-note") for note in notes if note]
    return tag(
        "div", tag("div", name, class_="tile-name"), tag("div", value, class_="tile-value"), lines, class_="tile"
    )


def _time_tiles(report: Report) -> list[Markup]:
    totals, stats = report.totals, report.totals.latency
    if stats is None:
        return [_tile("Latency", "not measured")]
    interval = stats.median_interval
    tiles = [
        _tile(
            "Latency, median",
            latency_text(stats.median),
            f"95 %: {latency_text(interval.low)} to {latency_text(interval.high)}" if interval else None,
            f"{stats.count} runs {'without' if totals.unprofiled else 'with'} the profiler",
        ),
        _tile(
            "p90 / p99",
            latency_text(stats.p90),
            f"p99 {latency_text(stats.p99)}",
            f"{latency_text(stats.min)} to {latency_text(stats.max)}",
        ),
    ]
    if totals.runs_per_second:
        tiles.append(_tile("Throughput", f"{totals.runs_per_second:.4g}/s", "runs, one after the other"))
    if totals.flops_per_second:
        share = f"{percent_text(totals.peak_share, 0)} of the board's peak" if totals.peak_share else None
        tiles.append(_tile("Rate", rate_text(totals.flops_per_second, "FLOP"), share, count_text(totals.flops, "FLOP")))
    return tiles


def _instruction_tiles(report: Report) -> list[Markup]:
    totals = report.totals
    return [
        _tile("Executed instructions", count_text(totals.instructions), "in one run, emulated"),
        _tile("Instructions per FLOP", per_flop_text(totals.instructions_per_flop), count_text(totals.flops, "FLOP")),
    ]


def _memory_tiles(report: Report) -> list[Markup]:
    totals, arena = report.totals, report.arena
    tiles = []
    if arena is not None:
        note = f"lower bound {bytes_text(arena.lower_bound_bytes)}"
        tiles.append(_tile("Arena", bytes_text(arena.planned_bytes), note))
    resident = f"peak resident {bytes_text(totals.peak_rss_bytes)}" if totals.peak_rss_bytes is not None else None
    return [*tiles, _tile("Weights", bytes_text(totals.weights_bytes), resident)]
