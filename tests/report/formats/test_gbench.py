"""Risk: compare.py of Google Benchmark cannot read it, or reads times that were never taken."""

from __future__ import annotations

import json

from cuvil_edge.report.build import build_report
from cuvil_edge.report.formats.gbench import GbenchFormat
from cuvil_edge.report.model import Report
from tests.report.samples import make_counted, make_profile


def test_every_kind_has_the_keys_of_google_benchmark(any_report: Report) -> None:
    document = json.loads(GbenchFormat().render(any_report))
    assert {"date", "host_name", "num_cpus", "mhz_per_cpu", "library_build_type"} <= set(document["context"])
    for entry in document["benchmarks"]:
        assert {"name", "run_name", "run_type"} <= set(entry)
        if "error_occurred" not in entry:
            assert {"iterations", "real_time", "cpu_time", "time_unit"} <= set(entry)


def test_runs_are_repetitions_with_aggregates() -> None:
    entries = json.loads(GbenchFormat().render(build_report(make_profile())))["benchmarks"]
    model = [entry for entry in entries if entry["family_index"] == 0]
    assert [e["repetition_index"] for e in model if e["run_type"] == "iteration"] == list(range(12))
    aggregates = {e["aggregate_name"]: e["real_time"] for e in model if e["run_type"] == "aggregate"}
    assert aggregates == {"mean": 6_002_000, "median": 6_002_000, "stddev": 0}


def test_instruction_counts_are_marked_and_have_no_time() -> None:
    for entry in json.loads(GbenchFormat().render(build_report(make_counted())))["benchmarks"]:
        assert entry["error_occurred"] is True
        assert "real_time" not in entry
