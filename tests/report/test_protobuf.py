"""Risk: one wrong byte on the wire makes the whole file unreadable."""

from __future__ import annotations

import pytest

from cuvil_edge.report.protobuf import integer, message, real, text, varint


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (2**63 - 1, "ffffffffffffffff7f"),
        (-1, "ffffffffffffffffff01"),
        (-(2**63), "80808080808080808001"),
    ],
)
def test_varint(value: int, expected: str) -> None:
    assert varint(value).hex() == expected


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_varint_refuses_more_than_64_bits(value: int) -> None:
    with pytest.raises(ValueError, match="64 bits"):
        varint(value)


def test_fields() -> None:
    assert integer(1, 150).hex() == "089601"
    assert text(2, "testing").hex() == "120774657374696e67"
    assert message(3, integer(1, 150)).hex() == "1a03089601"
    assert integer(20, 1).hex() == "a00101"
    assert real(2, 1.0).hex() == "150000803f"
    assert real(2, 1e60).hex() == "150000807f"


def test_text_that_utf8_cannot_hold() -> None:
    assert text(1, "\ud800") == text(1, "?")
