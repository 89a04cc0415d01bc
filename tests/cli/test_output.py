"""What reaches the user: one JSON object, no progress where nobody watches, no control characters from models."""

from __future__ import annotations

import io
import json

from cuvil_edge.cli._output import Output, printable
from cuvil_edge.errors import ModelError


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_silent_without_a_terminal():
    out, err = io.StringIO(), io.StringIO()
    output = Output(stdout=out, stderr=err)
    output.progress("build", 1, 2)
    output.text("done")
    assert (out.getvalue(), err.getvalue()) == ("done\n", "")


def test_progress_on_a_terminal_is_replaced_by_the_result():
    out, err = io.StringIO(), Terminal()
    output = Output(stdout=out, stderr=err)
    output.progress("build", 1, 2)
    assert "build 1/2" in err.getvalue()
    output.text("done")
    assert err.getvalue().endswith("\r\x1b[2K")


def test_progress_is_silent_with_json_even_on_a_terminal():
    err = Terminal()
    Output(as_json=True, stdout=io.StringIO(), stderr=err).progress("build")
    assert err.getvalue() == ""


def test_json_output_is_one_object_and_no_text():
    out = io.StringIO()
    output = Output(as_json=True, stdout=out, stderr=io.StringIO())
    output.text("words")
    output.json({"a": 1})
    assert json.loads(out.getvalue()) == {"ok": True, "a": 1}


def test_details_only_when_asked():
    quiet, loud = io.StringIO(), io.StringIO()
    Output(stdout=quiet, stderr=io.StringIO()).detail("x")
    Output(verbose=True, stdout=loud, stderr=io.StringIO()).detail("x")
    assert (quiet.getvalue(), loud.getvalue()) == ("", "x\n")


def test_names_from_a_model_cannot_control_the_terminal():
    out, err = io.StringIO(), io.StringIO()
    output = Output(stdout=out, stderr=err)
    output.text("layer \x1b[2Jevil\r")
    output.error(ModelError("bad", thing="node \x1b]0;title\x07"), 1)
    assert "\x1b" not in out.getvalue() + err.getvalue()
    assert "\r" not in out.getvalue()
    assert "\\x1b[2Jevil" in out.getvalue()


def test_printable_keeps_letters_of_all_languages_and_escapes_surrogates():
    assert printable("é世界 µs\t") == "é世界 µs\t"
    assert printable("\ud800\u202e") == "\\ud800\\u202e"


def test_character_that_the_terminal_cannot_show_is_replaced():
    raw = io.BytesIO()
    output = Output(stdout=io.TextIOWrapper(raw, encoding="ascii"), stderr=io.StringIO())
    output.text("12 µs")
    output.flush()
    assert raw.getvalue() == b"12 ?s\n"


def test_colour_needs_a_terminal_and_consent():
    assert Output(stdout=Terminal(), stderr=io.StringIO()).has_colour
    assert not Output(stdout=Terminal(), stderr=io.StringIO(), colour=False).has_colour
    assert not Output(stdout=io.StringIO(), stderr=io.StringIO()).has_colour


def test_raw_document_is_written_unchanged():
    raw = io.BytesIO()
    output = Output(stdout=io.TextIOWrapper(raw, encoding="utf-8"), stderr=io.StringIO())
    output.raw(b"\x08\x01\xff")
    assert raw.getvalue() == b"\x08\x01\xff"
