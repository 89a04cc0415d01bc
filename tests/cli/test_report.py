"""Reports through the command line: every format, files, comparisons, damaged run folders."""

from __future__ import annotations

import csv
import io
import json

import pytest

from cuvil_edge.report.render import format_names


def test_terminal_is_the_default(cli, run_folder):
    outcome = cli("report", run_folder())
    assert outcome.status == 0
    assert outcome.out.startswith("tiny")
    assert "\x1b" not in outcome.out
    assert "count=10" in outcome.out


@pytest.mark.parametrize("name", format_names())
def test_every_format_can_be_written_to_a_file(cli, run_folder, tmp_path, name):
    path = tmp_path / f"out.{name}"
    outcome = cli("report", run_folder(), "--format", name, "-o", path, "--json")
    assert outcome.json["file"] == str(path)
    assert path.stat().st_size > 0


def test_text_formats_go_to_stdout(cli, run_folder):
    rows = list(csv.DictReader(io.StringIO(cli("report", run_folder(), "--format", "csv").out)))
    assert [row["name"] for row in rows] == ["first", "second"]
    trace = json.loads(cli("report", run_folder(), "--format", "trace").out)
    assert trace["traceEvents"]


def test_json_flag_wraps_the_report(cli, run_folder):
    report = cli("report", run_folder(), "--json").json["report"]
    assert report["header"]["model"] == "tiny"


def test_json_flag_with_another_format_is_a_contradiction(cli, run_folder):
    assert cli("report", run_folder(), "--json", "--format", "csv").error["kind"] == "usage"


def test_file_in_a_folder_gets_the_name_of_its_format(cli, run_folder, tmp_path):
    assert cli("report", run_folder(), "--format", "csv", "-o", tmp_path).status == 0
    assert (tmp_path / "layers.csv").is_file()


def test_unknown_format_lists_all(cli, run_folder):
    error = cli("report", run_folder(), "--format", "pdf", "-o", "x", "--json").error
    assert "html" in error["expected"]


def test_missing_run_folder_says_who_writes_them(cli, tmp_path):
    outcome = cli("report", tmp_path / "nothing")
    assert outcome.status == 2
    assert "'profile' and 'deploy' write run folders" in outcome.err


def test_damaged_profile_is_named(cli, run_folder):
    folder = run_folder()
    (folder / "profile.json").write_text('{"schema": 1, ')
    outcome = cli("report", folder)
    assert outcome.status == 1
    assert "profile.json" in outcome.err
    assert "Traceback" not in outcome.err


def test_wrong_number_of_folders(cli, run_folder):
    assert cli("report").status == 2
    assert cli("report", run_folder(), run_folder("b")).status == 2
    assert cli("report", "--compare", run_folder()).status == 2


def test_comparison_gives_the_ratio(cli, run_folder):
    a, b = run_folder("a"), run_folder("b", 2)
    comparison = cli("report", "--compare", a, b, "--json").json["comparison"]
    assert comparison["ratio"] == pytest.approx(2, rel=1e-3)
    assert [layer["name"] for layer in comparison["layers"]] == ["second", "first"]
    text = cli("report", "--compare", a, b).out
    assert "second" in text
    assert "2.000" in text


def test_comparison_of_different_models_says_so(cli, run_folder):
    outcome = cli("report", "--compare", run_folder("a"), run_folder("b", model="other"))
    assert outcome.status == 0
    assert "differ in model" in outcome.out


def test_unwritable_file_is_an_error_with_its_name(cli, run_folder, tmp_path):
    outcome = cli("report", run_folder(), "-o", tmp_path / "no" / "such" / "folder.txt")
    assert outcome.status == 2
    assert "folder.txt" in outcome.err
