"""The report as one HTML file: no network, no external font or script; works from a mail attachment."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from cuvil_edge.report.charts.arena import arena_chart
from cuvil_edge.report.charts.latency import distribution_chart, series_chart
from cuvil_edge.report.charts.roofline import drawable_rows, roofline_chart
from cuvil_edge.report.formats._base import ReportFormat
from cuvil_edge.report.markup import Child, Markup, tag
from cuvil_edge.report.model import Report
from cuvil_edge.report.page.head import tiles_section, title_section, verdict_section
from cuvil_edge.report.page.layers import bars_section, groups_section, shares_section, table_section
from cuvil_edge.report.page.tail import facts_section, repeat_section, verification_section

_ASSETS = Path(__file__).resolve().parent.parent / "assets"


class HtmlFormat(ReportFormat):
    """Charts are inline SVG; the one script (sorting, filter) is allowed by its hash, and nothing else may load."""

    name = "html"
    file_name = "report.html"

    def render(self, report: Report) -> str:
        """The document."""
        style = (_ASSETS / "report.css").read_text(encoding="utf-8")
        script = (_ASSETS / "report.js").read_text(encoding="utf-8")
        head = tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", f"{report.header.model} on {report.header.board} - cuvil-edge"),
            tag("style", Markup(style)),
        )
        return f"<!DOCTYPE html>\n{tag('html', head, _body(report, script), lang='en')}\n"


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
    rules = ("default-src 'none'", "style-src 'unsafe-inline'", f"script-src 'sha256-{digest}'")
    return "; ".join((*rules, "base-uri 'none'", "form-action 'none'"))


def _body(report: Report, script: str) -> Markup:
    return tag(
        "body",
        tag(
            "main",
            title_section(report),
            verdict_section(report),
            tiles_section(report),
            shares_section(report),
            _latency_section(report),
            bars_section(report),
            _machine_section(report),
            table_section(report),
            groups_section(report),
            tag(
                "div",
                facts_section(report),
                tag("div", verification_section(report), repeat_section(report), class_="stacked"),
                class_="columns",
            ),
        ),
        tag("script", Markup(script)),
    )


def _figure(title: str, lead: Child, chart: Markup) -> Markup:
    return tag("section", tag("h2", title), tag("p", lead, class_="lead"), chart, class_="card figure")


def _latency_section(report: Report) -> Markup | None:
    stats, profile = report.totals.latency, report.profile
    if stats is None:
        return None
    series = profile.unprofiled_run_ns or profile.run_wall_ns
    legend = [
        tag("span", tag("i", class_=f"swatch {name}"), text)
        for name, values, text in (
            ("profiled", profile.run_wall_ns, "with the profiler"),
            ("unprofiled", profile.unprofiled_run_ns, "without"),
        )
        if values
    ]
    outliers = stats.high_outliers
    text = f"{stats.count} runs; half of them lie within {stats.spread:.1%} of the median"
    text += f"; {outliers} far slower" if outliers else ""
    return tag(
        "div",
        _figure("Latency", f"{text}.", distribution_chart(series, stats)),
        _figure("Over time", legend, series_chart(profile.run_wall_ns, profile.unprofiled_run_ns)),
        class_="columns",
    )


def _machine_section(report: Report) -> Markup | None:
    """Roofline and arena, those of them that there is data for."""
    rows = drawable_rows(report.layers)
    roofline = arena = None
    if rows:
        lead: Child = (
            "Each dot is a step; its area is its share of the time. The closer to the roof, the less is left to gain."
        )
        if report.limits is None:
            lead = "Each dot is a step; its area is its share of the time. The board's limits are not known."
        roofline = _figure("Roofline", lead, roofline_chart(rows, report.limits))
    if report.arena is not None:
        peak = report.layers[report.arena.peak_step]
        lead = f"Most is alive in step {peak.index}, {peak.name}. Buffers that do not live together share bytes."
        arena = _figure("Arena memory", lead, arena_chart(report.arena, report.layers))
    return tag("div", roofline, arena, class_="columns") if roofline or arena else None
