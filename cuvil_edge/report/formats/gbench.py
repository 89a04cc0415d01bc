"""JSON of Google Benchmark, for ``compare.py`` and the services that follow benchmarks over time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cuvil_edge.profile.statistics import Statistics
from cuvil_edge.report.formats._base import ReportFormat
from cuvil_edge.report.model import LayerRow, Report
from cuvil_edge.report.text import layers_text


class GbenchFormat(ReportFormat):
    """Each run of the model is a repetition, followed by mean, median and standard deviation; then the layers.

    Instruction counts are marked with ``error_occurred``, which makes such tools skip the times that are not there.
    """

    name = "gbench"
    file_name = "gbench.json"

    def render(self, report: Report) -> str:
        """The document with ``context`` and ``benchmarks``."""
        benchmarks = _model(report) + [_layer(report, row, i) for i, row in enumerate(report.layers, start=1)]
        document = {"context": _context(report), "benchmarks": benchmarks}
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _context(report: Report) -> dict[str, Any]:
    facts = report.profile.facts_before
    clocks = facts.get("clocks")
    clocks = clocks if isinstance(clocks, Mapping) else {}
    hertz = [v for v in clocks.values() if isinstance(v, int) and not isinstance(v, bool)]
    governor = facts.get("governor")
    governors = set(map(str, governor.values())) if isinstance(governor, Mapping) else set()
    return {
        "date": _date(report.header.created_unix_ns),
        "host_name": report.header.device,
        "executable": f"{report.header.model} ({report.header.target})",
        "num_cpus": len(hertz) or report.header.threads,
        "mhz_per_cpu": round(max(hertz) / 1e6) if hertz else 0,
        "cpu_scaling_enabled": bool(governors - {"performance"}),
        "caches": [],
        "load_avg": [],
        "library_build_type": "release",
        "board": report.header.board,
        "artifact_sha256": report.header.artifact_sha256,
        "verdict": report.verdict,
    }


def _date(unix_ns: int) -> str:
    try:
        return datetime.fromtimestamp(unix_ns // 1_000_000_000, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return "1970-01-01T00:00:00+00:00"


def _name(report: Report, *parts: str) -> str:
    return "/".join([report.header.model, *parts, f"threads:{report.header.threads}"])


def _model(report: Report) -> list[dict[str, Any]]:
    name, stats = _name(report), report.totals.latency
    base = {"name": name, "family_index": 0, "per_family_instance_index": 0, "run_name": name}
    if stats is None:
        return [_untimed(base, report.totals.instructions)]
    series: Sequence[int] = report.profile.unprofiled_run_ns or report.profile.run_wall_ns
    repetitions = [
        {**base, "run_type": "iteration", "repetitions": len(series), "repetition_index": i, **_timed(1, value)}
        for i, value in enumerate(series)
    ]
    return repetitions + [
        {
            **base,
            "name": f"{name}_{aggregate}",
            "run_type": "aggregate",
            "repetitions": len(series),
            "aggregate_name": aggregate,
            "aggregate_unit": "time",
            **_timed(len(series), value),
        }
        for aggregate, value in _aggregates(stats).items()
    ]


def _aggregates(stats: Statistics) -> dict[str, float]:
    return {"mean": stats.mean, "median": stats.median, "stddev": stats.std}


def _timed(iterations: int, value_ns: float) -> dict[str, Any]:
    return {
        "threads": 1,
        "iterations": iterations,
        "real_time": float(value_ns),
        "cpu_time": float(value_ns),
        "time_unit": "ns",
    }


def _layer(report: Report, row: LayerRow, family: int) -> dict[str, Any]:
    name = _name(report, f"{row.index}:{layers_text(row)}")
    base: dict[str, Any] = {"name": name, "family_index": family, "per_family_instance_index": 0, "run_name": name}
    if row.time is None:
        return _untimed(base, row.instructions)
    entry = {**base, "run_type": "iteration", "repetitions": 1, "repetition_index": 0}
    entry |= _timed(row.time.count, row.time.median)
    return entry | ({"flops_per_second": row.flops_per_second} if row.flops_per_second else {})


def _untimed(base: Mapping[str, Any], instructions: int | None) -> dict[str, Any]:
    return {
        **base,
        "run_type": "iteration",
        "repetitions": 1,
        "repetition_index": 0,
        "error_occurred": True,
        "error_message": "emulated: executed instructions were counted, no time was measured",
        "instructions": instructions,
    }
