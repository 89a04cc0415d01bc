"""Can this measurement be trusted? Each check returns what it found, what was expected and what to do about it.

The thresholds are for latency on small boards, where clocks and heat move run times by tens of percent; a change
smaller than a threshold cannot mislead a comparison that matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuvil_edge.profile.records import Profile
from cuvil_edge.profile.statistics import drift, summarize, trend
from cuvil_edge.report.fact_warnings import find_fact_warnings
from cuvil_edge.report.model import SEVERITIES, VERDICTS, Closure, TrustWarning
from cuvil_edge.units import format_ns

FEW_RUNS, TOO_FEW_RUNS = 10, 3
WIDE_SPREAD, VERY_WIDE_SPREAD = 0.05, 0.20
DRIFT, STRONG_DRIFT = 0.05, 0.15
MANY_OUTLIERS = 0.05
PROFILER_SHARE = 0.05
UNEXPLAINED_SHARE = 0.03


def verdict_of(warnings: Iterable[TrustWarning]) -> str:
    """The worst severity as a verdict: "trusted" (nothing but notes), "doubtful" or "untrusted"."""
    return VERDICTS[max((SEVERITIES.index(warning.severity) for warning in warnings), default=0)]


def find_warnings(profile: Profile, closure: Closure | None) -> tuple[TrustWarning, ...]:
    """All reasons for doubt in a profile, the worst first.

    Args:
        profile: the measurement.
        closure: what ``report.build`` made of its runs; None for instruction counts or without runs.
    """
    found = [*_verification(profile), *_emulator(profile)]
    if profile.is_timed:
        series = profile.unprofiled_run_ns or profile.run_wall_ns
        found += [*_runs(series), *_warm_up(profile), *_series(series), *_closure(closure)]
        found += find_fact_warnings(profile.facts_before, profile.facts_after)
    return tuple(sorted(found, key=lambda warning: -SEVERITIES.index(warning.severity)))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _verification(profile: Profile) -> list[TrustWarning]:
    verification = profile.verification
    if verification is None or verification.passed:
        return []
    wrong = [output.name for output in verification.outputs if output.mismatches]
    return [
        TrustWarning(
            kind="wrong_answer",
            severity="untrusted",
            what="the answers are wrong",
            found="outside the tolerance: " + (", ".join(wrong) or "the reference case"),
            expected="the outputs of the reference case",
            hint="times of a wrong computation mean nothing; deploy again, and report this if it stays",
        )
    ]


def _emulator(profile: Profile) -> list[TrustWarning]:
    facts = (profile.facts_before, profile.facts_after)
    is_emulated = profile.transport == "emulator" or any(fact.get("emulated") for fact in facts)
    if not is_emulated:
        return []
    if not profile.is_timed:
        return [
            TrustWarning(
                kind="emulated",
                severity="note",
                what="the run was emulated",
                found="executed instructions",
                expected="times from a real board",
                hint="use --host user@address to measure on a device",
            )
        ]
    return [
        TrustWarning(
            kind="emulated",
            severity="untrusted",
            what="these times were taken under an emulator",
            found="the time that the emulator needed",
            expected="a real board",
            hint="use --host user@address to measure on a device; under the emulator, compare executed instructions",
        )
    ]


def _runs(series: Sequence[int]) -> list[TrustWarning]:
    if len(series) >= FEW_RUNS:
        return []
    return [
        TrustWarning(
            kind="few_runs",
            severity="untrusted" if len(series) < TOO_FEW_RUNS else "doubtful",
            what="too few runs",
            found=str(len(series)),
            expected=f"at least {FEW_RUNS}",
            hint="measure more runs (--runs)",
        )
    ]


def _warm_up(profile: Profile) -> list[TrustWarning]:
    if profile.warmup_runs:
        return []
    return [
        TrustWarning(
            kind="no_warm_up",
            severity="doubtful",
            what="no warm-up",
            found="the first run was measured with cold caches and clocks",
            expected="at least 1 warm-up run",
            hint="warm up first (--warmup)",
        )
    ]


def _series(series: Sequence[int]) -> list[TrustWarning]:
    summary = summarize(series)
    if summary is None:
        return []
    found = []
    if summary.spread > WIDE_SPREAD:
        found.append(
            TrustWarning(
                kind="wide_spread",
                severity="untrusted" if summary.spread > VERY_WIDE_SPREAD else "doubtful",
                what="the runs differ widely",
                found=f"half of the runs spread over {_percent(summary.spread)} of the median",
                expected=f"at most {_percent(WIDE_SPREAD)}",
                hint="stop other programs, fix the clock (governor performance), and use cores of one kind",
            )
        )
    outliers = summary.high_outliers / summary.count
    if outliers > MANY_OUTLIERS:
        found.append(
            TrustWarning(
                kind="outliers",
                severity="doubtful",
                what="many runs are far slower than the rest",
                found=f"{summary.high_outliers} of {summary.count}, up to {format_ns(summary.max)}",
                expected=f"at most {_percent(MANY_OUTLIERS)} of the runs",
                hint="something else runs on the board now and then; look at it with 'top' while measuring",
            )
        )
    return found + _drift(series)


def _drift(series: Sequence[int]) -> list[TrustWarning]:
    change = drift(series)
    if abs(change) <= DRIFT:
        return []
    slower = change > 0
    return [
        TrustWarning(
            kind="drift",
            severity="untrusted" if abs(change) > STRONG_DRIFT else "doubtful",
            what="runs became slower while measuring" if slower else "runs became faster while measuring",
            found=f"the last quarter took {change:+.1%} against the first (slope over all runs {trend(series):+.1%})",
            expected=f"within {_percent(DRIFT)}",
            hint="the board heats up: cool it, or measure longer until it is steady"
            if slower
            else "the warm-up was too short: warm up longer (--warmup)",
        )
    ]


def _closure(closure: Closure | None) -> list[TrustWarning]:
    if closure is None:
        return []
    return [*_overlaps(closure), *_profiler_cost(closure), *_unexplained(closure)]


def _overlaps(closure: Closure) -> list[TrustWarning]:
    overlaps = sum(run.overlaps for run in closure.runs)
    if not overlaps:
        return []
    return [
        TrustWarning(
            kind="overlapping_steps",
            severity="untrusted",
            what="times of the steps contradict each other",
            found=f"{overlaps} steps start before the one in front has ended, or end after the run",
            expected="one step after the other, all inside the run",
            hint="the device's clock is not steady; measure again, and report this if it stays",
        )
    ]


def _profiler_cost(closure: Closure) -> list[TrustWarning]:
    cost = max(closure.profiler_share, closure.slowdown or 0.0)
    if cost <= PROFILER_SHARE:
        return []
    return [
        TrustWarning(
            kind="profiler_cost",
            severity="doubtful",
            what="the profiler slows the model down",
            found=_percent(cost),
            expected=f"at most {_percent(PROFILER_SHARE)}",
            hint="layers of a few microseconds look slower than they are; trust the time without the profiler",
        )
    ]


def _unexplained(closure: Closure) -> list[TrustWarning]:
    share = closure.shown_run.gap_share
    if share <= UNEXPLAINED_SHARE:
        return []
    return [
        TrustWarning(
            kind="unexplained_time",
            severity="doubtful",
            what="a part of the run is in no layer",
            found=f"{_percent(share)} of the median run ({format_ns(closure.shown_run.gaps_ns)})",
            expected=f"at most {_percent(UNEXPLAINED_SHARE)}",
            hint="threads wait for each other or are moved between cores; use fewer threads, or cores of one kind",
        )
    ]
