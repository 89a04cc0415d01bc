"""Writing reports: formats by name, found by scanning ``report/formats``."""

from __future__ import annotations

from pathlib import Path

from cuvil_edge.errors import UsageError
from cuvil_edge.registry import load_plugin, plugin_names
from cuvil_edge.report.formats._base import ReportFormat
from cuvil_edge.report.model import Report

_PACKAGE = "cuvil_edge.report.formats"


def format_names() -> tuple[str, ...]:
    """All formats, sorted."""
    return plugin_names(_PACKAGE)


def format_named(name: str) -> type[ReportFormat]:
    """The class of a format.

    Raises:
        UsageError: there is no such format.
    """
    if name not in format_names():
        raise UsageError("unknown report format", expected=", ".join(format_names()), found=name)
    return load_plugin(_PACKAGE, name, ReportFormat)  # type: ignore[type-abstract]


def render(report: Report, name: str) -> str | bytes:
    """The report in the format ``name``, with that format's defaults. Raises UsageError for an unknown name."""
    return format_named(name)().render(report)


def render_bytes(report: Report, name: str) -> bytes:
    """As :func:`render`, text encoded as UTF-8."""
    content = render(report, name)
    return content.encode("utf-8", errors="replace") if isinstance(content, str) else content


def write_report(report: Report, name: str, path: Path) -> Path:
    """Write the report to ``path``, or into it under the format's own file name where it is a folder.

    Raises:
        UsageError: no such format, or the file cannot be written.
    """
    target = path / format_named(name).file_name if path.is_dir() else path
    try:
        target.write_bytes(render_bytes(report, name))
    except OSError as error:
        raise UsageError("cannot write the report", thing=str(target), found=error.strerror or str(error)) from None
    return target
