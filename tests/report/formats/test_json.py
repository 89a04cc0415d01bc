"""Risk: the JSON and its shipped schema drift apart."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cuvil_edge.report.build import build_report
from cuvil_edge.report.formats.json import SCHEMA_PATH, JsonFormat
from cuvil_edge.report.model import Report
from tests.report.json_schema import problems
from tests.report.samples import make_profile

SCHEMA = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))


def rendered(report: Report) -> Any:
    return json.loads(JsonFormat().render(report))


def test_every_kind_fits_the_schema(any_report: Report) -> None:
    assert problems(rendered(any_report), SCHEMA) == []


@pytest.mark.parametrize("where", ["header", "totals", "runs"])
def test_schema_refuses_a_key_more_and_a_key_less(where: str) -> None:
    document = rendered(build_report(make_profile()))
    document[where]["new"] = 1
    assert problems(document, SCHEMA)
    del document[where]["new"]
    document[where].popitem()
    assert problems(document, SCHEMA)


def test_schema_refuses_wrong_types() -> None:
    document = rendered(build_report(make_profile()))
    document["layers"][0]["flops"] = "many"
    document["verdict"] = "fine"
    assert len(problems(document, SCHEMA)) == 2


def test_numbers_are_those_of_the_model() -> None:
    document = rendered(build_report(make_profile()))
    assert document["layers"][2]["time"]["median"] == 3_000_000
    assert document["closure"]["runs"][0]["gaps_ns"] == 2_000
    assert document["runs"]["run_wall_ns"] == [6_004_000] * 12
    assert document["layers"][0]["instructions"] is None
