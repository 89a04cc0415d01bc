"""Risk: tools that read trtexec's profiles find other keys or units."""

from __future__ import annotations

import json

import pytest

from cuvil_edge.report.build import build_report
from cuvil_edge.report.formats.trex import TrexFormat
from tests.report.samples import make_counted, make_profile


def test_list_starts_with_the_count_and_has_trtexec_keys() -> None:
    count, *layers = json.loads(TrexFormat().render(build_report(make_profile())))
    assert count == {"count": 12}
    assert layers[1] == {
        "name": "Conv_1 + Relu_1",
        "timeMs": 24.0,
        "averageMs": 2.0,
        "medianMs": 2.0,
        "percentage": pytest.approx(100 / 3),
    }
    assert sum(layer["percentage"] for layer in layers) == pytest.approx(100)


def test_instruction_counts_have_no_milliseconds() -> None:
    _, *layers = json.loads(TrexFormat().render(build_report(make_counted())))
    assert layers[2] == {"name": "Conv_2 + Relu_2", "instructions": 3_000_000, "percentage": 50.0}
