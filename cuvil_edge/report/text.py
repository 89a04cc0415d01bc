"""Numbers and names as text, the same in every format that people read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from cuvil_edge.profile.records import ProfileTensor
from cuvil_edge.report.model import Header, LayerRow, Report
from cuvil_edge.units import format_bytes, format_count, format_hz, format_millidegrees, format_ns

DASH = "-"


def printable(text: str) -> str:
    """``text`` on one line without control characters, so that a name cannot move the cursor or forge a line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def shorten(text: str, width: int) -> str:
    """At most ``width`` characters of ``text``, with an ellipsis in the middle: names differ at both ends."""
    if len(text) <= width:
        return text
    head = (width - 1) // 2
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def shape_text(tensor: ProfileTensor) -> str:
    """``1x3x224x224``; ``scalar`` for rank 0."""
    return "x".join(str(extent) for extent in tensor.shape) or "scalar"


def shapes_text(tensors: Sequence[ProfileTensor]) -> str:
    """The shapes of several tensors, separated by spaces."""
    return " ".join(shape_text(tensor) for tensor in tensors)


def layers_text(row: LayerRow) -> str:
    """All the user's layers in a row, ``Conv_0 + Relu_1``."""
    return " + ".join(row.layers) or row.name


def short_layers_text(row: LayerRow) -> str:
    """As :func:`layers_text`, but later names without the path that they share with the first: ``/a/b/Conv + Relu``."""
    if not row.layers:
        return row.name
    first = row.layers[0]
    path = first[: first.rfind("/") + 1]
    rest = (name.removeprefix(path) if path != name else name for name in row.layers[1:])
    return " + ".join((first, *rest))


def time_text(value_ns: float | None) -> str:
    """A duration, or a dash."""
    return DASH if value_ns is None else format_ns(value_ns)


def latency_text(value_ns: float | None) -> str:
    """A duration with the four digits that intervals of medians need, or a dash."""
    return DASH if value_ns is None else format_ns(value_ns, 4)


def bytes_text(value_bytes: float | None) -> str:
    """A size, or a dash."""
    return DASH if value_bytes is None else format_bytes(value_bytes)


def count_text(value: float | None, unit: str = "") -> str:
    """A count in decimal units, or a dash."""
    return DASH if value is None else format_count(value, unit)


def rate_text(value_per_second: float | None, unit: str) -> str:
    """A rate per second, or a dash: ``97.1 GFLOP/s``."""
    return DASH if value_per_second is None else format_count(value_per_second, f"{unit}/s")


def giga_text(value_per_second: float | None) -> str:
    """A rate in 10^9 per second for a column whose head has the unit."""
    return DASH if value_per_second is None else f"{value_per_second / 1e9:.3g}"


def per_flop_text(value: float | None) -> str:
    """Instructions per FLOP, or a dash."""
    return DASH if value is None else f"{value:.3g}"


def percent_text(share: float | None, digits: int = 1) -> str:
    """A share in [0, 1] as a percentage, or a dash."""
    return DASH if share is None else f"{100 * share:.{digits}f} %"


def date_text(unix_ns: int) -> str:
    """Seconds since 1970 as ``2026-01-31 12:00:00 UTC``; the bare number where it is beyond the calendar."""
    try:
        return datetime.fromtimestamp(unix_ns // 1_000_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{unix_ns} ns since 1970"


def symbols_text(symbols: Mapping[str, int]) -> str:
    """``N=1, height=640``."""
    return ", ".join(f"{name}={value}" for name, value in symbols.items())


def device_text(header: Header) -> str:
    """Where it ran: ``pi5 over ssh``, ``this machine``, ``under an emulator``."""
    if header.transport == "emulator":
        return "under an emulator"
    return header.device if header.transport == "local" else f"{header.device} over {header.transport}"


def threads_text(threads: int) -> str:
    """``1 thread``, ``4 threads``."""
    return f"{threads} thread{'s' if threads != 1 else ''}"


def verdict_text(report: Report) -> str:
    """The verdict as a sentence."""
    if not report.is_timed:
        return {
            "trusted": "Instruction counts are exact, and are no measurement of time",
            "doubtful": "Read these instruction counts with care",
            "untrusted": "These instruction counts cannot be trusted",
        }[report.verdict]
    return {
        "trusted": "This measurement can be trusted",
        "doubtful": "This measurement is doubtful",
        "untrusted": "This measurement cannot be trusted",
    }[report.verdict]


_FACT_FORMATS = {
    "temperature": format_millidegrees,
    "clocks": format_hz,
}


def fact_text(name: str, value: Any) -> str:
    """A fact in words; whatever form it has."""
    if value is None:
        return DASH
    if not isinstance(value, Mapping):
        return _fact_item(name, name, value)
    items = {_fact_key(str(key)): _fact_item(name, str(key), item) for key, item in value.items()}
    if len(items) > 2 and len(set(items.values())) == 1:
        return f"{next(iter(items.values()))} (all {len(items)})"
    return ", ".join(f"{key}: {item}" for key, item in items.items()) or "(none)"


def _fact_key(key: str) -> str:
    for unit in ("_bytes", "_hz", "_millidegrees"):
        key = key.removesuffix(unit)
    return key.replace("_", " ")


def _fact_item(name: str, key: str, value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: DASH}[value]
    if isinstance(value, int | float):
        return _fact_number(name, key, value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(_fact_item(name, key, item) for item in value) or "(none)"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fact_number(name: str, key: str, value: float) -> str:
    if key.endswith("_bytes"):
        return format_bytes(value)
    if key.endswith("_hz"):
        return format_hz(value)
    if key.endswith("_millidegrees"):
        return format_millidegrees(value)
    return _FACT_FORMATS[name](value) if name in _FACT_FORMATS else str(value)
