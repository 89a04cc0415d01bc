"""Risk: a format that is not found, or falls over on a profile that another one renders."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuvil_edge.errors import UsageError
from cuvil_edge.report.build import build_report
from cuvil_edge.report.model import Report
from cuvil_edge.report.render import format_named, format_names, render, render_bytes, write_report
from tests.report.samples import make_profile

FORMATS = {"csv", "gbench", "html", "json", "markdown", "onnx", "terminal", "trace", "trex"}


def test_every_format_is_found_by_scanning() -> None:
    assert set(format_names()) >= FORMATS


@pytest.mark.parametrize("name", format_names())
def test_file_name_and_name_agree(name: str) -> None:
    plugin = format_named(name)
    assert plugin.name == name
    assert "." in plugin.file_name


def test_no_two_formats_write_the_same_file() -> None:
    files = [format_named(name).file_name for name in format_names()]
    assert len(set(files)) == len(files)


@pytest.mark.parametrize("name", format_names())
def test_renders_every_kind_of_profile(name: str, any_report: Report) -> None:
    content = render_bytes(any_report, name)
    assert content
    if name != "onnx":
        assert b"NaN" not in content.replace(b">NaN<", b"").replace(b"| NaN |", b"")
        assert b"Infinity" not in content


@pytest.mark.parametrize("name", format_names())
def test_same_report_gives_same_bytes(name: str) -> None:
    assert render(build_report(make_profile()), name) == render(build_report(make_profile()), name)


def test_unknown_format_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="terminal"):
        render(build_report(make_profile()), "pdf")
    with pytest.raises(UsageError):
        render(build_report(make_profile()), "_base")


def test_write_into_a_folder_or_to_a_file(tmp_path: Path) -> None:
    report = build_report(make_profile())
    assert write_report(report, "csv", tmp_path) == tmp_path / "layers.csv"
    assert write_report(report, "csv", tmp_path / "x.csv").read_bytes() == (tmp_path / "layers.csv").read_bytes()
    with pytest.raises(UsageError, match="cannot write"):
        write_report(report, "csv", tmp_path / "none" / "x.csv")
