"""One row a layer, for pandas and spreadsheets: the header is fixed, and units are in the names of the columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

from cuvil_edge.report.formats._base import ReportFormat
from cuvil_edge.report.model import LayerRow, Report
from cuvil_edge.report.text import shapes_text

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def _us(value_ns: float | None) -> float | None:
    return None if value_ns is None else round(value_ns / 1e3, 6)


def _giga(value: float | None) -> float | None:
    return None if value is None else round(value / 1e9, 6)


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 6)


COLUMNS: dict[str, Callable[[LayerRow], Any]] = {
    "index": lambda row: row.index,
    "name": lambda row: row.name,
    "op_type": lambda row: row.op,
    "source_nodes": lambda row: ";".join(row.layers),
    "kernel": lambda row: row.kernel,
    "dtype": lambda row: row.dtype,
    "in_shapes": lambda row: shapes_text(row.inputs),
    "out_shapes": lambda row: shapes_text(row.outputs),
    "flops": lambda row: row.flops,
    "bytes_read": lambda row: row.bytes_read,
    "bytes_written": lambda row: row.bytes_written,
    "weights_bytes": lambda row: row.weights_bytes,
    "calls": lambda row: row.calls,
    "min_us": lambda row: _us(row.time.min if row.time else None),
    "p50_us": lambda row: _us(row.time.median if row.time else None),
    "mean_us": lambda row: _us(row.time.mean if row.time else None),
    "p90_us": lambda row: _us(row.time.p90 if row.time else None),
    "p99_us": lambda row: _us(row.time.p99 if row.time else None),
    "max_us": lambda row: _us(row.time.max if row.time else None),
    "instructions": lambda row: row.instructions,
    "instructions_per_flop": lambda row: row.instructions_per_flop,
    "pct": lambda row: _percent(row.share),
    "cdf_pct": lambda row: _percent(row.cumulative_share),
    "gflops": lambda row: _giga(row.flops_per_second),
    "gbps": lambda row: _giga(row.bytes_per_second),
    "flops_per_byte": lambda row: row.flops_per_byte,
    "limit_pct": lambda row: _percent(row.limit_share),
    "bound": lambda row: row.bound,
}
LAST_COLUMN = "thread_count"


class CsvFormat(ReportFormat):
    """RFC 4180 text; a value that was not measured is an empty cell.

    A name that a spreadsheet would take for a formula gets a ``'`` in front, because models come from strangers.
    """

    name = "csv"
    file_name = "layers.csv"

    def render(self, report: Report) -> str:
        """The header and one line for each step of the plan."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*COLUMNS, LAST_COLUMN])
        for row in report.layers:
            writer.writerow([*(_cell(read(row)) for read in COLUMNS.values()), report.header.threads])
        return file.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return "" if value is None else value
