"""Risk: a report too wide to read, one that a name can repaint, or times where nothing was timed."""

from __future__ import annotations

import re

import pytest

from cuvil_edge.report.build import build_report
from cuvil_edge.report.formats.terminal import TerminalFormat
from cuvil_edge.report.model import Report
from tests.report.samples import NASTY_NAME, make_counted, make_profile, make_step, with_names

TIME = re.compile(r"\d\s?(ns|µs|us|ms|s)\b")


def test_no_control_character_reaches_the_terminal(any_report: Report) -> None:
    text = TerminalFormat().render(any_report)
    assert all(c.isprintable() or c == "\n" for c in text)


def test_colour_only_when_asked_and_the_same_words() -> None:
    report = build_report(make_profile(runs=2))
    plain, coloured = TerminalFormat().render(report), TerminalFormat(colour=True).render(report)
    assert "\x1b[" not in plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_table_fits_the_width(width: int) -> None:
    steps = tuple(make_step(i, layers=(f"/model/backbone/stage{i}/block/conv1/Conv",) * 4) for i in range(3))
    text = TerminalFormat(width=width).render(build_report(make_profile(steps=steps)))
    table = text.split("Layers, ")[1].split("\n\n")[0].splitlines()[1:]
    assert len(table) == 4
    assert len({line.count("  ") > 5 for line in table}) == 1
    assert max(map(len, table)) <= max(width, 110)


def test_closure_adds_up_as_printed() -> None:
    text = TerminalFormat().render(build_report(make_profile()))
    numbers = {
        label: int(re.search(rf"{label}\s+([\d,]+) ns", text)[1].replace(",", ""))  # type: ignore[index]
        for label in ("layers", "gaps between layers", "profiler", "= wall time")
    }
    assert numbers.pop("= wall time") == sum(numbers.values())


def test_top_limits_the_rows() -> None:
    report = build_report(make_profile(30))
    assert "slowest first (5 of 30)" in TerminalFormat(top=5).render(report)
    assert TerminalFormat(top=None).render(report).count("conv_1x1") == 0
    assert TerminalFormat(top=None, width=160).render(report).count("conv_1x1") == 30


def test_last_line_is_what_benchmark_scripts_read() -> None:
    last = TerminalFormat().render(build_report(make_profile())).splitlines()[-1]
    assert last == "count=12 first=6002 curr=6002 min=6002 max=6002 avg=6002 std=0"


def test_instruction_counts_show_no_time_and_say_why() -> None:
    text = TerminalFormat().render(build_report(make_counted()))
    assert "emulator" in text
    assert not TIME.search(text.replace("Conv_", ""))
    assert "instructions" in text


def test_every_warning_comes_with_its_hint() -> None:
    report = build_report(make_profile(runs=2, warmup_runs=0))
    text = TerminalFormat().render(report)
    assert "cannot be trusted" in text
    for warning in report.warnings:
        assert warning.what in text
        assert warning.hint in text


def test_nasty_names_are_shown_escaped() -> None:
    text = TerminalFormat(width=400).render(build_report(with_names(NASTY_NAME)))
    assert r"\x1b[31m" in text
    assert r"\u202e" in text
