"""Checks of the facts that were read from the device before and after a measurement.

Facts are what the device gave; a fact that is absent or of an unknown form is no reason for doubt, only a check less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuvil_edge.report.model import TrustWarning
from cuvil_edge.units import format_bytes, format_hz, format_millidegrees

CLOCK_CHANGE = 0.05
TEMPERATURE_RISE_MILLIDEGREES = 10_000
HOT_MILLIDEGREES = 80_000
BUSY_LOAD, VERY_BUSY_LOAD = 0.5, 2.0
LOW_MEMORY_SHARE = 0.05

Facts = Mapping[str, Any]


def find_fact_warnings(before: Facts, after: Facts) -> list[TrustWarning]:
    """All reasons for doubt that the facts give."""
    return [
        *_throttling(before, after),
        *_clocks(before, after),
        *_governor(before, after),
        *_temperature(before, after),
        *_load(before),
        *_memory(before),
    ]


def _numbers(fact: object) -> dict[str, float]:
    """The numbers of a fact such as {"cpu0": 1, "cpu1": 2}; nothing for any other form."""
    if not isinstance(fact, Mapping):
        return {}
    return {str(k): v for k, v in fact.items() if isinstance(v, int | float) and not isinstance(v, bool)}


def _texts(fact: object, key: str) -> tuple[str, ...]:
    """The texts of a fact such as {"now": ["undervoltage"]}."""
    value = fact.get(key) if isinstance(fact, Mapping) else None
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return tuple(str(item) for item in value)


def _throttling(before: Facts, after: Facts) -> list[TrustWarning]:
    first, last = before.get("throttling"), after.get("throttling")
    now = {*_texts(first, "now"), *_texts(last, "now")}
    earlier = set(_texts(first, "since_boot"))
    # Without facts from before, a flag since boot may be old: only new ones count.
    during = set(_texts(last, "since_boot")) - earlier if first is not None else set()
    if found := sorted(now | during):
        return [
            TrustWarning(
                kind="throttled",
                severity="untrusted",
                what="the board slowed itself down while measuring",
                found=", ".join(found),
                expected="no throttling, no undervoltage",
                hint="use the board's own power supply and a heat sink or fan",
            )
        ]
    if old := sorted(earlier | set(_texts(last, "since_boot"))):
        return [
            TrustWarning(
                kind="throttled_earlier",
                severity="note",
                what="the board slowed itself down some time since it was started",
                found=", ".join(old),
                expected="no throttling, no undervoltage",
                hint="it did not happen during this measurement, but may under longer load",
            )
        ]
    return []


def _clocks(before: Facts, after: Facts) -> list[TrustWarning]:
    first, last = _numbers(before.get("clocks")), _numbers(after.get("clocks"))
    changed = [
        f"{cpu} {format_hz(first[cpu])} -> {format_hz(last[cpu])}"
        for cpu in first
        if cpu in last and first[cpu] > 0 and abs(last[cpu] / first[cpu] - 1) > CLOCK_CHANGE
    ]
    if not changed:
        return []
    return [
        TrustWarning(
            kind="clock_changed",
            severity="doubtful",
            what="the clock changed while measuring",
            found=", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if len(changed) > 4 else ""),
            expected="the same clock before and after",
            hint="set the governor to performance, and keep the board cool",
        )
    ]


def _governor(before: Facts, after: Facts) -> list[TrustWarning]:
    governors: set[str] = set()
    for fact in (before.get("governor"), after.get("governor")):
        if isinstance(fact, Mapping):
            governors |= {value for value in fact.values() if isinstance(value, str)}
        elif isinstance(fact, str):
            governors.add(fact)
    if not (others := sorted(governors - {"performance"})):
        return []
    return [
        TrustWarning(
            kind="governor",
            severity="doubtful",
            what="the clock governor may change the clock at any time",
            found=", ".join(others),
            expected="performance",
            hint="on the board: echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
        )
    ]


def _temperature(before: Facts, after: Facts) -> list[TrustWarning]:
    first, last = _numbers(before.get("temperature")), _numbers(after.get("temperature"))
    rises = {zone: last[zone] - first[zone] for zone in first if zone in last}
    if not last:
        return []
    hottest = max(last, key=lambda zone: last[zone])
    rising = max(rises, key=lambda zone: rises[zone], default=None)
    if last[hottest] >= HOT_MILLIDEGREES:
        zone, found = hottest, f"{hottest} at {format_millidegrees(last[hottest])}"
    elif rising is not None and rises[rising] > TEMPERATURE_RISE_MILLIDEGREES:
        zone, found = rising, f"{format_millidegrees(first[rising])} -> {format_millidegrees(last[rising])}"
    else:
        return []
    return [
        TrustWarning(
            kind="temperature",
            severity="doubtful",
            what="the board became hot while measuring",
            found=found if zone in found else f"{zone} {found}",
            expected=f"a rise of at most {format_millidegrees(TEMPERATURE_RISE_MILLIDEGREES)},"
            f" and below {format_millidegrees(HOT_MILLIDEGREES)}",
            hint="cool the board; run long enough to see the speed it can keep up",
        )
    ]


def _load(before: Facts) -> list[TrustWarning]:
    one_minute = _numbers(before.get("load")).get("one_minute", 0.0)
    if one_minute <= BUSY_LOAD:
        return []
    return [
        TrustWarning(
            kind="other_load",
            severity="untrusted" if one_minute > VERY_BUSY_LOAD else "doubtful",
            what="the board was busy before the measurement",
            found=f"a load of {one_minute:.2f} over the last minute",
            expected=f"at most {BUSY_LOAD}",
            hint="stop other programs on the board, or wait a minute, and measure again",
        )
    ]


def _memory(before: Facts) -> list[TrustWarning]:
    memory = _numbers(before.get("memory"))
    total, available = memory.get("total_bytes", 0), memory.get("available_bytes")
    if not total or available is None or available >= LOW_MEMORY_SHARE * total:
        return []
    return [
        TrustWarning(
            kind="low_memory",
            severity="doubtful",
            what="the board was short of memory",
            found=f"{format_bytes(available)} of {format_bytes(total)} available",
            expected=f"at least {LOW_MEMORY_SHARE:.0%}",
            hint="pages that are swapped out slow runs down; stop other programs on the board",
        )
    ]
