"""Checked reading: every wrong value is named by file and key, and nothing of a wrong type gets through."""

from __future__ import annotations

from typing import Any

import pytest

from cuvil_edge.errors import ArtifactError, ConfigError
from cuvil_edge.fields import Fields, is_text, nearest_hint, show


def _fields(**table: Any) -> Fields:
    return Fields(table, "boards/x.toml")


WRONG: list[tuple[str, Any]] = [
    ("text", 1),
    ("text", ""),
    ("text", "a\0b"),
    ("text", "\ud800"),
    ("integer", True),
    ("integer", 1.0),
    ("integer", "1"),
    ("integer", -1),
    ("integer", 2**63),
    ("number", float("nan")),
    ("number", float("inf")),
    ("number", True),
    ("number", 10**400),
    ("number", -0.5),
    ("boolean", 1),
    ("items", "abc"),
    ("texts", ["a", 1]),
    ("texts", [""]),
    ("integers", [1, True]),
    ("section", []),
    ("sections", {}),
    ("sections", [{}, 1]),
]


@pytest.mark.parametrize(("kind", "value"), WRONG)
def test_wrong_values_are_refused_with_file_and_key(kind: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        getattr(_fields(key=value), kind)("key")
    assert str(caught.value).startswith("boards/x.toml: key")


def test_the_path_leads_to_the_innermost_key() -> None:
    cluster = _fields(clusters=[{}, {"max_hz": "2.4 GHz"}]).sections("clusters")[1]
    with pytest.raises(ConfigError) as caught:
        cluster.integer("max_hz", minimum=1)
    assert caught.value.thing == "boards/x.toml: clusters[1].max_hz"
    assert caught.value.expected == "an integer of at least 1"
    assert caught.value.found == '"2.4 GHz"'


def test_a_missing_key_hints_at_a_misspelt_one() -> None:
    with pytest.raises(ConfigError, match='did you mean "l1d_byte"') as caught:
        _fields(l1d_byte=1).integer("l1d_bytes")
    assert caught.value.what == "is missing"


def test_unread_keys_are_refused_with_the_nearest_known_one() -> None:
    fields = _fields(title="x", titel="y")
    fields.text("title")
    with pytest.raises(ConfigError, match="titel: is not a known key") as caught:
        fields.refuse_unknown()
    assert caught.value.hint == 'did you mean "title"?'


def test_defaults_are_used_only_where_the_key_is_missing() -> None:
    fields = _fields(port=0)
    assert fields.integer("other", None) is None
    assert fields.texts("more", ()) == ()
    with pytest.raises(ConfigError):
        fields.integer("port", None, minimum=1)


def test_choices_and_the_family_of_the_error() -> None:
    fields = Fields({"dtype": "f23"}, "manifest.json", ArtifactError)
    with pytest.raises(ArtifactError, match='did you mean "f32"'):
        fields.text("dtype", choices=("f16", "f32"))


def test_show_keeps_messages_short() -> None:
    assert len(show("x" * 1000)) == 80
    assert show(10**5000) == "an integer of 16610 bits"
    assert (show(None), show(True), show([1]), show({})) == ("null", "true", "a list of 1", "a table")


def test_text_must_survive_being_written_as_utf8() -> None:
    assert is_text("größe 🙂")
    assert not is_text("\udc80")


def test_nothing_similar_gives_no_hint() -> None:
    assert nearest_hint("zzz", ["alpha"]) is None
