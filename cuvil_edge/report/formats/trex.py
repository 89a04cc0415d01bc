"""The list that ``trtexec --exportProfile`` writes, for the tools that read it."""

from __future__ import annotations

import json
from typing import Any

from cuvil_edge.report.formats._base import ReportFormat
from cuvil_edge.report.model import LayerRow, Report
from cuvil_edge.report.text import layers_text


class TrexFormat(ReportFormat):
    """``{"count": runs}``, then a layer each: total, average and median milliseconds, and percentage.

    Instruction counts have ``instructions`` in the place of the times.
    """

    name = "trex"
    file_name = "trex_profile.json"

    def render(self, report: Report) -> str:
        """A JSON list."""
        entries: list[dict[str, Any]] = [{"count": report.header.runs}]
        entries += [_entry(row) for row in report.layers]
        return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def _entry(row: LayerRow) -> dict[str, Any]:
    percentage = round(100 * row.share, 6) if row.share is not None else 0.0
    if row.time is None:
        return {"name": layers_text(row), "instructions": row.instructions, "percentage": percentage}
    return {
        "name": layers_text(row),
        "timeMs": row.time.mean * row.time.count / 1e6,
        "averageMs": row.time.mean / 1e6,
        "medianMs": row.time.median / 1e6,
        "percentage": percentage,
    }
