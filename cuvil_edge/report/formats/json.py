"""The whole report as JSON, as described by ``report/schema/report.schema.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from cuvil_edge.report.formats._base import ReportFormat
from cuvil_edge.report.model import Report

SCHEMA_VERSION = 1
SCHEMA_PATH = Path(__file__).resolve().parent.parent / "schema" / "report.schema.json"


class JsonFormat(ReportFormat):
    """Numbers as in the view model: nanoseconds, bytes, per second, shares in [0, 1]; not measured is null."""

    name = "json"
    file_name = "report.json"

    def render(self, report: Report) -> str:
        """Indented JSON."""
        document = {
            "schema": SCHEMA_VERSION,
            **{f.name: _plain(getattr(report, f.name)) for f in fields(report) if f.name != "profile"},
            "runs": {
                "run_wall_ns": list(report.profile.run_wall_ns),
                "unprofiled_run_ns": list(report.profile.unprofiled_run_ns),
            },
        }
        return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
