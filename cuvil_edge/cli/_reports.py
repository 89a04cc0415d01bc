"""Showing a measurement at the end of ``profile`` and ``deploy``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuvil_edge.cli._output import Output

if TYPE_CHECKING:
    from cuvil_edge.profile.records import Profile
    from cuvil_edge.report.model import Report

TOP_LAYERS = 15
_WIDTH = 120


def terminal_report(report: Report, output: Output, *, all_layers: bool = False) -> bytes:
    """The report for this terminal: as wide as it is, coloured where it can be."""
    from cuvil_edge.report.formats.terminal import TerminalFormat

    top = None if all_layers else TOP_LAYERS
    form = TerminalFormat(colour=output.has_colour, width=output.width or _WIDTH, top=top)
    return form.render(report).encode("utf-8", errors="replace")


def report_json(report: Report) -> dict[str, Any]:
    """The report as ``report --format json`` has it."""
    from cuvil_edge.report.render import render_bytes

    value = json.loads(render_bytes(report, "json"))
    assert isinstance(value, dict)
    return value


def show_run(profile: Profile, folder: Path, output: Output, **more: Any) -> None:
    """The report, and where the measurement is; ``more`` goes into the JSON object."""
    from cuvil_edge.report.build import build_report

    report = build_report(profile)
    if output.as_json:
        output.json({"run_folder": str(folder), **more, "report": report_json(report)})
        return
    output.raw(terminal_report(report, output, all_layers=output.verbose))
    output.text(f"\nRun folder: {folder}")
    output.text(f"  cuvil-edge report {folder} --format html -o report.html")
