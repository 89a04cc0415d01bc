"""Risk: somebody's text becomes markup."""

from __future__ import annotations

from cuvil_edge.report.markup import Markup, join, number, tag


def test_text_is_escaped_and_markup_is_not_escaped_twice() -> None:
    assert tag("p", "a<b>&c", tag("b", "x")) == "<p>a&lt;b&gt;&amp;c<b>x</b></p>"
    assert isinstance(tag("p"), Markup)


def test_attributes_are_escaped_and_named() -> None:
    assert tag("a", title='"><x', class_="c", stroke_width=1.5) == (
        '<a title="&quot;&gt;&lt;x" class="c" stroke-width="1.5"></a>'
    )


def test_absent_attributes_are_left_out() -> None:
    assert tag("input", value=None, hidden=False, required=True, x=0) == '<input required x="0">'


def test_children_are_flattened_and_none_is_nothing() -> None:
    assert join("a", None, ["b", (tag("br"), "c")], (text for text in "de")) == "ab<br>cde"


def test_adding_text_to_markup_is_text_again() -> None:
    assert tag("p", tag("b") + "<i>") == "<p>&lt;b&gt;&lt;/b&gt;&lt;i&gt;</p>"


def test_coordinates_are_short() -> None:
    assert [number(v) for v in (1.0, 1.005, 12.3456, -0.5, 3)] == ["1", "1", "12.35", "-0.5", "3"]
