"""Risk: columns move or lose their units under scripts that read them by name."""

from __future__ import annotations

import csv
import io
import re

from cuvil_edge.report.build import build_report
from cuvil_edge.report.formats.csv import CsvFormat
from cuvil_edge.report.model import Report
from tests.report.samples import make_counted, make_profile, make_step

HEADER = (
    "index,name,op_type,source_nodes,kernel,dtype,in_shapes,out_shapes,flops,bytes_read,bytes_written,weights_bytes,"
    "calls,min_us,p50_us,mean_us,p90_us,p99_us,max_us,instructions,instructions_per_flop,pct,cdf_pct,gflops,gbps,"
    "flops_per_byte,limit_pct,bound,thread_count"
)


def rows(report: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(CsvFormat().render(report))))


def test_header_is_fixed_for_every_kind(any_report: Report) -> None:
    text = CsvFormat().render(any_report)
    assert text.splitlines()[0] == HEADER
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in HEADER.split(","))
    assert len(rows(any_report)) == len(any_report.layers)


def test_values_read_back() -> None:
    row = rows(build_report(make_profile()))[1]
    assert row["source_nodes"] == "Conv_1;Relu_1"
    assert row["out_shapes"] == "1x8x4x4"
    assert (float(row["p50_us"]), float(row["max_us"])) == (2000, 2000)
    assert (float(row["pct"]), float(row["cdf_pct"])) == (33.333333, 50)
    assert (float(row["gflops"]), row["bound"], row["thread_count"]) == (1, "compute", "4")
    assert row["instructions"] == ""


def test_instruction_counts_leave_times_empty() -> None:
    row = rows(build_report(make_counted()))[2]
    assert row["instructions"] == "3000000"
    assert {row[name] for name in ("min_us", "p50_us", "mean_us", "p90_us", "p99_us", "max_us", "gflops", "gbps")} == {
        ""
    }


def test_a_name_cannot_become_a_formula() -> None:
    for name in ("=1+1", "+1", "-1", "@x", "\tx"):
        row = rows(build_report(make_profile(1, steps=(make_step(0, name=name),))))[0]
        assert row["name"] == "'" + name


def test_names_with_commas_quotes_and_breaks_stay_one_cell() -> None:
    name = 'a,b"c"\nd'
    assert rows(build_report(make_profile(1, steps=(make_step(0, name=name),))))[0]["name"] == name
