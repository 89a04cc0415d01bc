"""The end of the page: device facts, verification, and how to repeat the measurement."""

from __future__ import annotations

from cuvil_edge.report.markup import Markup, tag
from cuvil_edge.report.model import FactRow, Report
from cuvil_edge.report.text import fact_text


def facts_section(report: Report) -> Markup | None:
    """What the device said of itself, before and after."""
    if not report.facts:
        return None
    head = tag("tr", (tag("th", text, scope="col") for text in ("Fact", "Before", "After")))
    rows = [_fact(fact) for fact in report.facts]
    table = tag("table", tag("thead", head), tag("tbody", rows), class_="facts")
    return tag("section", tag("h2", "Device"), tag("div", table, class_="scroll", tabindex="0"), class_="card")


def _fact(fact: FactRow) -> Markup:
    changed = tag("span", "changed", class_="badge note") if fact.changed else None
    return tag(
        "tr",
        tag("th", fact.name.replace("_", " "), scope="row"),
        tag("td", fact_text(fact.name, fact.before)),
        tag("td", fact_text(fact.name, fact.after), " ", changed),
    )


def verification_section(report: Report) -> Markup | None:
    """The answers of the device against the reference case."""
    verification = report.verification
    if verification is None:
        return None
    head = tag("tr", (tag("th", t, scope="col") for t in ("Output", "Wrong elements", "NaN", "Max error", "Relative")))
    rows = [
        tag(
            "tr",
            tag("th", output.name, scope="row"),
            (
                tag("td", text, class_="num")
                for text in (
                    str(output.mismatches),
                    str(output.nan_count),
                    _error(output.max_abs_error),
                    _error(output.max_rel_error),
                )
            ),
        )
        for output in verification.outputs
    ]
    verdict = "The answers equal the reference." if verification.passed else "The answers are wrong."
    case = f" Case: {verification.reference}." if verification.reference else ""
    table = tag("div", tag("table", tag("thead", head), tag("tbody", rows)), class_="scroll", tabindex="0")
    return tag(
        "section",
        tag("h2", "Answers"),
        tag("p", verdict + case, class_="lead"),
        table if rows else None,
        class_="card",
    )


def _error(value: float | None) -> str:
    return "-" if value is None else f"{value:.2e}"


def repeat_section(report: Report) -> Markup:
    """The command and the hash that identify the measurement."""
    header = report.header
    entries = [
        ("Command", header.command),
        ("Artifact (sha256)", header.artifact_sha256),
        ("Warm-up runs", str(header.warmup_runs) if report.is_timed else None),
    ]
    return tag(
        "section",
        tag("h2", "To repeat this"),
        tag("dl", ([tag("dt", name), tag("dd", tag("code", value))] for name, value in entries if value)),
        class_="card",
    )
