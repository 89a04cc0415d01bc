"""Risk: a throttled board is not noticed, or a fact of an unknown form stops the report."""

from __future__ import annotations

from typing import Any

import pytest

from cuvil_edge.report.fact_warnings import find_fact_warnings
from cuvil_edge.report.model import TrustWarning
from tests.report.samples import CALM_FACTS


def found(before: dict[str, Any], after: dict[str, Any] | None = None) -> dict[str, TrustWarning]:
    last = before if after is None else after
    warnings = find_fact_warnings({**CALM_FACTS, **before}, {**CALM_FACTS, **last})
    return {warning.kind: warning for warning in warnings}


def test_clock_changed() -> None:
    warnings = found({"clocks": {"cpu0": 2_400_000_000}}, {"clocks": {"cpu0": 1_500_000_000}})
    assert "2.4 GHz -> 1.5 GHz" in warnings["clock_changed"].found
    assert "clock_changed" not in found({"clocks": {"cpu0": 100}}, {"clocks": {"cpu0": 101}})


def test_governor() -> None:
    assert found({"governor": {"cpu0": "ondemand"}})["governor"].found == "ondemand"
    assert found({"governor": "schedutil"})["governor"].found == "schedutil"


def test_throttled_now_or_newly_is_untrusted_and_long_ago_is_a_note() -> None:
    clean: dict[str, Any] = {"throttling": {"now": [], "since_boot": []}}
    old: dict[str, Any] = {"throttling": {"now": [], "since_boot": ["undervoltage"]}}
    now: dict[str, Any] = {"throttling": {"now": ["undervoltage"], "since_boot": ["undervoltage"]}}
    assert found(clean, now)["throttled"].severity == "untrusted"
    assert found(clean, old)["throttled"].severity == "untrusted"
    assert found(old, old)["throttled_earlier"].severity == "note"
    assert {w.severity for w in found(old, old).values()} == {"note"}


def test_temperature() -> None:
    rise = found({"temperature": {"cpu": 45_000}}, {"temperature": {"cpu": 60_000}})
    assert "cpu 45.0 °C -> 60.0 °C" in rise["temperature"].found
    assert "temperature" in found({"temperature": {"cpu": 79_000}}, {"temperature": {"cpu": 81_000}})
    assert "temperature" not in found({"temperature": {"cpu": 50_000}}, {"temperature": {"cpu": 55_000}})


@pytest.mark.parametrize(("load", "severity"), [(0.9, "doubtful"), (3.0, "untrusted")])
def test_other_load(load: float, severity: str) -> None:
    assert found({"load": {"one_minute": load}})["other_load"].severity == severity


def test_low_memory() -> None:
    assert "low_memory" in found({"memory": {"total_bytes": 1000, "available_bytes": 20}})


@pytest.mark.parametrize("value", [None, [], "x", 5, {}, {"cpu0": None}, {"cpu0": "fast"}, {"now": "x"}, {"now": 5}])
@pytest.mark.parametrize("name", ["clocks", "temperature", "throttling", "load", "memory"])
def test_facts_of_an_unknown_form_are_no_reason_for_doubt(name: str, value: Any) -> None:
    assert found({name: value}) == {}
