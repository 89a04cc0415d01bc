"""Comparing two measurements: a ratio with its interval, and whether it may be believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuvil_edge.profile.records import Profile
from cuvil_edge.profile.statistics import Interval, ratio_interval
from cuvil_edge.report.build import build_report
from cuvil_edge.report.model import LayerRow, Report, TrustWarning


@dataclass(frozen=True, kw_only=True)
class LayerComparison:
    """One step that both plans have under the same name; values in ns or in instructions."""

    name: str
    a: float
    b: float
    ratio: float | None
    """b / a."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How ``b`` stands to ``a``; ``ratio`` is b / a, so below 1 means that b is faster."""

    a: Report
    b: Report
    ratio: float | None
    interval: Interval | None
    """Of the ratio; None for instruction counts and where there are too few runs."""
    verdict: str
    """The worst of both measurements and of ``reasons``: "trusted", "doubtful" or "untrusted"."""
    reasons: tuple[TrustWarning, ...]
    conclusion: str
    layers: tuple[LayerComparison, ...]


def compare(a: Profile, b: Profile) -> Comparison:
    """Compare two profiles of one model; never raises for profiles that do not belong together, but says so."""
    first, second = build_report(a), build_report(b)
    reasons = (*_differences(a, b), *_distrust("first", first), *_distrust("second", second))
    severities = [reason.severity for reason in reasons]
    verdict = next((s for s in ("untrusted", "doubtful") if s in severities), "trusted")
    ratio, interval = (None, None) if a.unit != b.unit else _ratio(a, b, first, second)
    return Comparison(
        a=first,
        b=second,
        ratio=ratio,
        interval=interval,
        verdict=verdict,
        reasons=reasons,
        conclusion=_conclusion(ratio, interval, verdict, first),
        layers=_layers(first, second) if a.unit == b.unit else (),
    )


def _differences(a: Profile, b: Profile) -> list[TrustWarning]:
    def shown(profile: Profile, key: str) -> str:
        value = getattr(profile, key)
        return ", ".join(f"{k}={v}" for k, v in sorted(value.items())) if key == "symbols" else str(value)

    severities = {
        "unit": "untrusted",
        "model": "untrusted",
        "board": "untrusted",
        "device": "doubtful",
        "threads": "untrusted",
        "symbols": "untrusted",
    }
    return [
        TrustWarning(
            kind=f"different_{key}",
            severity=severity,
            what=f"the measurements differ in {key}",
            found=f"{shown(a, key) or '(none)'} and {shown(b, key) or '(none)'}",
            expected="the same in both",
            hint="change one thing at a time",
        )
        for key, severity in severities.items()
        if getattr(a, key) != getattr(b, key)
    ]


def _distrust(which: str, report: Report) -> list[TrustWarning]:
    if report.verdict == "trusted":
        return []
    causes = [w.what for w in report.warnings if w.severity != "note"]
    return [
        TrustWarning(
            kind=f"{which}_is_{report.verdict}",
            severity=report.verdict,
            what=f"the {which} measurement is {report.verdict}",
            found="; ".join(causes),
            expected="a trusted measurement",
            hint="measure it again as its own report advises",
        )
    ]


def _ratio(a: Profile, b: Profile, first: Report, second: Report) -> tuple[float | None, Interval | None]:
    if not a.is_timed:
        old, new = first.totals.instructions, second.totals.instructions
        return (new / old if old and new is not None else None), None
    unprofiled = bool(a.unprofiled_run_ns and b.unprofiled_run_ns)
    old_series, new_series = (p.unprofiled_run_ns if unprofiled else p.run_wall_ns for p in (a, b))
    old_stats, new_stats = (r.totals.unprofiled if unprofiled else r.totals.wall for r in (first, second))
    if old_stats is None or new_stats is None or not old_stats.median:
        return None, None
    return new_stats.median / old_stats.median, ratio_interval(new_series, old_series)


def _conclusion(ratio: float | None, interval: Interval | None, verdict: str, first: Report) -> str:
    if ratio is None:
        return "The two measurements cannot be compared."
    if verdict == "untrusted":
        return f"No conclusion: the ratio {ratio:.3f} comes from measurements that cannot be compared."
    kind = "time" if first.is_timed else "instruction count"
    tail = "" if verdict == "trusted" else " This is doubtful: see the reasons."
    if first.is_timed and interval is None:
        return f"No conclusion: the ratio {ratio:.3f} has no interval, because there are too few runs."
    if interval is not None and interval.contains(1.0):
        return f"No difference can be shown: the ratio {ratio:.3f} may be 1 ({_interval(interval)}).{tail}"
    if ratio == 1:
        return f"The second has the same {kind}.{tail}"
    change = f"{abs(1 - ratio):.1%} {'less' if ratio < 1 else 'more'} {kind}"
    span = f" (ratio {_interval(interval)})" if interval is not None else ""
    return f"The second needs {change} than the first{span}.{tail}"


def _interval(interval: Interval) -> str:
    return f"95 % interval {interval.low:.3f} to {interval.high:.3f}"


def _layers(first: Report, second: Report) -> tuple[LayerComparison, ...]:
    others = {row.name: row for row in second.layers}
    pairs = [(row, others[row.name]) for row in first.layers if row.name in others]
    rows = [_layer(old, new) for old, new in pairs]
    return tuple(sorted((r for r in rows if r is not None), key=lambda r: -abs(r.b - r.a)))


def _layer(old: LayerRow, new: LayerRow) -> LayerComparison | None:
    values: Sequence[float | None] = [r.time.median if r.time is not None else r.instructions for r in (old, new)]
    a, b = values
    if a is None or b is None:
        return None
    return LayerComparison(name=old.name, a=a, b=b, ratio=b / a if a else None)
