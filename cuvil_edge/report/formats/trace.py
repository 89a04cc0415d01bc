"""Chrome trace events: opens in Perfetto and chrome://tracing, and has the keys that ONNX Runtime's profiles have.

Format: "Trace Event Format", Google 2016; ``ts`` and ``dur`` are microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cuvil_edge.profile.records import INSTRUCTIONS
from cuvil_edge.report.formats._base import ReportFormat
from cuvil_edge.report.model import LayerRow, Report
from cuvil_edge.report.text import layers_text, shape_text

MOST_STEP_EVENTS = 50_000
"""Runs beyond this many events are left out (and counted), so that the file stays small enough for the viewers."""
_PROCESS, _RUNS, _UNPROFILED = 1, 1, 2
_BETWEEN_RUNS_NS = 1_000
_INSTRUCTION_TRACK = "executed instructions, emulated: 1 µs on this axis is 1000 instructions and not a time"

Event = dict[str, Any]


class TraceFormat(ReportFormat):
    """Runs one after the other on one track with their steps nested inside, the arena's live bytes as a counter."""

    name = "trace"
    file_name = "trace.json"

    def render(self, report: Report) -> str:
        """The trace; one event a line."""
        events = [*_names(report), *(_timed(report) if report.is_timed else _counted(report))]
        lines = ",\n".join(json.dumps(event, ensure_ascii=False) for event in events)
        other = json.dumps(_other(report), ensure_ascii=False)
        return f'{{"traceEvents":[\n{lines}\n],"displayTimeUnit":"ns","otherData":{other}}}\n'


def _other(report: Report) -> dict[str, Any]:
    header = report.header
    return {
        "model": header.model,
        "board": header.board,
        "device": header.device,
        "target": header.target,
        "threads": header.threads,
        "artifact_sha256": header.artifact_sha256,
        "verdict": report.verdict,
        "note": report.note,
        "runs_left_out": len(report.profile.run_wall_ns) - _shown_runs(report),
    }


def _meta(name: str, track: int, text: str) -> Event:
    return {"ph": "M", "name": name, "pid": _PROCESS, "tid": track, "ts": 0, "args": {"name": text}}


def _names(report: Report) -> Iterator[Event]:
    header = report.header
    yield _meta("process_name", _RUNS, f"{header.model} on {header.board}")
    if not report.is_timed:
        yield _meta("thread_name", _RUNS, _INSTRUCTION_TRACK)
        return
    yield _meta("thread_name", _RUNS, f"plan ({header.threads} threads)")
    if report.profile.unprofiled_run_ns:
        yield _meta("thread_name", _UNPROFILED, "runs without the profiler")


def _event(name: str, category: str, track: int, start: int, duration: int, args: dict[str, Any]) -> Event:
    """A complete event; ``start`` and ``duration`` in ns (or instructions)."""
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": _PROCESS,
        "tid": track,
        "ts": start / 1000,
        "dur": duration / 1000,
        "args": args,
    }


def _step_args(row: LayerRow) -> dict[str, Any]:
    return {
        "op_name": row.op,
        "node_index": str(row.index),
        "provider": "CPUExecutionProvider",
        "layers": layers_text(row),
        "kernel": row.kernel,
        "input_type_shape": [{t.dtype: list(t.shape)} for t in row.inputs],
        "output_type_shape": [{t.dtype: list(t.shape)} for t in row.outputs],
        "output_shapes": [shape_text(t) for t in row.outputs],
        "flops": row.flops,
        "bytes_read": row.bytes_read,
        "bytes_written": row.bytes_written,
    }


def _live(report: Report, index: int, start: int) -> Iterator[Event]:
    if report.arena is not None:
        live = report.arena.live_bytes[index]
        args = {"live_bytes": live}
        yield {"ph": "C", "name": "arena live bytes", "pid": _PROCESS, "tid": _RUNS, "ts": start / 1000, "args": args}


def _shown_runs(report: Report) -> int:
    runs, steps = len(report.profile.run_wall_ns), max(len(report.layers), 1)
    return min(runs, max(1, MOST_STEP_EVENTS // steps))


def _timed(report: Report) -> Iterator[Event]:
    profile, begin = report.profile, 0
    args = [_step_args(row) for row in report.layers]
    for run in range(_shown_runs(report)):
        wall = profile.run_wall_ns[run]
        yield _event("model_run", "Session", _RUNS, begin, wall, {"run": run})
        for row in report.layers:
            start = begin + profile.step_start_ns[run][row.index]
            yield from _live(report, row.index, start)
            duration = profile.step_duration_ns[run][row.index]
            yield _event(f"{row.name}_kernel_time", "Node", _RUNS, start, duration, args[row.index])
        begin += wall + _BETWEEN_RUNS_NS
    for run, wall in enumerate(profile.unprofiled_run_ns):
        yield _event("model_run", "Session", _UNPROFILED, begin, wall, {"run": run, "profiled": False})
        begin += wall + _BETWEEN_RUNS_NS


def _counted(report: Report) -> Iterator[Event]:
    counts = report.profile.step_counters.get(INSTRUCTIONS, ())
    yield _event("model_run", "Session", _RUNS, 0, sum(counts), {INSTRUCTIONS: sum(counts)})
    start = 0
    for row, count in zip(report.layers, counts, strict=True):
        yield from _live(report, row.index, start)
        args = {**_step_args(row), INSTRUCTIONS: count}
        yield _event(f"{row.name}_kernel_time", "Node", _RUNS, start, count, args)
        start += count
