"""Risk: a name that breaks the table, becomes HTML, or mentions somebody."""

from __future__ import annotations

import re

from cuvil_edge.report.build import build_report
from cuvil_edge.report.formats.markdown import MarkdownFormat, escape
from cuvil_edge.report.model import Report
from tests.report.samples import NASTY_NAME, make_profile, with_names


def cells(line: str) -> int:
    return len(re.findall(r"(?<!\\)\|", line)) - 1


def test_every_table_has_rows_as_wide_as_its_head(any_report: Report) -> None:
    text = MarkdownFormat().render(any_report)
    for block in text.split("\n\n"):
        table = [line for line in block.splitlines() if line.startswith("|")]
        assert len({cells(line) for line in table}) <= 1


def test_names_are_plain_text() -> None:
    text = MarkdownFormat().render(build_report(with_names(NASTY_NAME)))
    assert "<script>" not in text
    assert "\x1b" not in text
    assert escape("@me [a](b) https://x") == r"\@me \[a\]\(b\) https:" + "\u200b//x"


def test_layers_and_closure_are_there() -> None:
    text = MarkdownFormat().render(build_report(make_profile()))
    assert r"Conv\_2 \+ Relu\_2" in text
    assert "| = wall time | 6,004,000 ns | 100.00 % |" in text
