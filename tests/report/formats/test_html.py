"""Risk: a report that loads something, runs somebody's name as code, or is not well formed."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from cuvil_edge.report.build import build_report
from cuvil_edge.report.formats.html import HtmlFormat
from cuvil_edge.report.model import Report
from tests.report.samples import NASTY_NAME, make_counted, make_profile, make_step, with_names

VOID = {"br", "col", "input", "meta"}
TIME = re.compile(r"\d\s(ns|µs|ms|s)\b")


class Page(HTMLParser):
    """Reads a page strictly: every element must be closed in order."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"an attribute twice in {tag}"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"{tag} closed but never opened"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif not self.open or self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)

    def ids(self) -> list[str | None]:
        return [attrs["id"] for _, attrs in self.tags if "id" in attrs]


def page(report: Report) -> Page:
    return Page(HtmlFormat().render(report))


def test_every_kind_is_well_formed(any_report: Report) -> None:
    parsed = page(any_report)
    assert parsed.ids() == ["filter", "shown", "steps"]
    assert parsed.tags[0] == ("html", {"lang": "en"})


def test_nothing_is_loaded_from_anywhere(any_report: Report) -> None:
    source = HtmlFormat().render(any_report)
    assert "://" not in source
    assert "url(" not in source
    assert "@import" not in source
    for tag, attrs in page(any_report).tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form", "a", "use", "image"}
        assert not {"src", "href", "srcset", "data", "action", "xlink:href"} & set(attrs)
        assert not any(name.startswith("on") for name in attrs)


def test_only_our_script_may_run() -> None:
    parsed = page(build_report(with_names(NASTY_NAME)))
    assert len(parsed.scripts) == 1
    digest = base64.b64encode(hashlib.sha256(parsed.scripts[0].encode()).digest()).decode()
    policy = next(a["content"] for t, a in parsed.tags if t == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize(
    "name", [NASTY_NAME, '"><img src=x onerror=alert(1)>', "</style></script><b>", "&lt;b&gt;", "a\x00b"]
)
def test_names_are_text_and_nothing_else(name: str) -> None:
    plain, nasty = page(build_report(with_names("x"))), page(build_report(with_names(name)))
    assert [tag for tag, _ in nasty.tags] == [tag for tag, _ in plain.tags]
    assert [set(attrs) for _, attrs in nasty.tags] == [set(attrs) for _, attrs in plain.tags]
    assert "\x1b" not in nasty.text
    assert "\x00" not in nasty.text
    if "\x00" not in name and name != NASTY_NAME:
        assert name in nasty.text


def test_unicode_names_are_shown() -> None:
    report = build_report(make_profile(1, steps=(make_step(0, layers=("层/卷积_é",)),)))
    assert "层/卷积_é" in page(report).text


def test_what_must_be_on_the_page() -> None:
    parsed = page(build_report(make_profile(runs=2)))
    for words in (
        "This measurement cannot be trusted",
        "too few runs",
        "Where the time goes",
        "Latency",
        "Over time",
        "Slowest layers",
        "Roofline",
        "Arena memory",
        "All steps",
        "By op",
        "By kernel",
        "Device",
        "Answers",
        "6,004,000 ns",
        "Conv_2 + Relu_2",
        "cuvil-edge profile tiny.cuvil --runs 12",
    ):
        assert words in parsed.text
    assert sum(tag == "svg" for tag, _ in parsed.tags) == 4


def test_charts_are_named_for_screen_readers(any_report: Report) -> None:
    for tag, attrs in page(any_report).tags:
        if tag == "svg":
            assert attrs["role"] == "img"
            assert attrs["aria-label"]


def test_instruction_counts_show_no_time() -> None:
    parsed = page(build_report(make_counted()))
    assert "emulator" in parsed.text
    assert not TIME.search(parsed.text)
    titles = " ".join(str(attrs.get("title", "")) for _, attrs in parsed.tags)
    assert not TIME.search(titles)
    for words in ("Latency", "Over time", "Roofline", "GFLOP/s"):
        assert words not in parsed.text


def test_rows_sort_by_numbers_and_not_by_their_text() -> None:
    parsed = page(build_report(make_profile()))
    values = [attrs["data-value"] for tag, attrs in parsed.tags if tag == "td" and "data-value" in attrs]
    assert "3000000.0" in values
    assert all(value == "" or float(value or "nan") >= 0 for value in values)


def test_coordinates_stay_inside_the_drawing(any_report: Report) -> None:
    for tag, attrs in page(any_report).tags:
        for name in ("x", "x1", "x2", "cx"):
            if tag in {"rect", "line", "circle", "text"} and name in attrs:
                assert -1 <= float(attrs[name] or "nan") <= 561, (tag, attrs)
        for name in ("width", "height", "r"):
            if tag in {"rect", "circle"} and name in attrs:
                assert float(attrs[name] or "nan") >= 0


def test_both_colour_schemes() -> None:
    source = HtmlFormat().render(build_report(make_profile()))
    assert "prefers-color-scheme: dark" in source


def test_size_of_a_large_plan_stays_reasonable() -> None:
    assert len(HtmlFormat().render(build_report(make_profile(300, runs=100)))) < 1_500_000
