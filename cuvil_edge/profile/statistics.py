"""Statistics of repeated measurements: order statistics first, because run times are skewed and have outliers.

All functions are deterministic: resampling uses a fixed seed, so one profile always gives one report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
RESAMPLES = 2000
SEED = 20_240_229
_CHUNK_ELEMENTS = 1 << 20
_TREND_BLOCKS = 256

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A confidence interval [low, high] in the unit of its values."""

    low: float
    high: float

    def contains(self, value: float) -> bool:
        """Whether ``value`` is in it (the ends count)."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Statistics:
    """A summary of one series; everything but counts is in the unit of the values.

    ``median_interval`` is None for fewer than two values; ``std`` is the population standard deviation.
    """

    count: int
    first: float
    last: float
    min: float
    median: float
    mean: float
    p90: float
    p99: float
    max: float
    std: float
    spread: float
    """Interquartile range divided by the median: 0.01 means that half of the values lie in 1 percent."""
    median_interval: Interval | None
    low_outliers: int
    high_outliers: int


def percentile(values: Sequence[float] | Floats, percent: float) -> float:
    """The percentile by linear interpolation between order statistics (Hyndman and Fan 1996, type 7)."""
    return float(np.percentile(np.asarray(values, dtype=np.float64), percent))


def summarize(values: Sequence[float], *, resamples: int = RESAMPLES) -> Statistics | None:
    """The summary of ``values`` in the order they were measured, or None of an empty series."""
    if not len(values):
        return None
    array = np.asarray(values, dtype=np.float64)
    low, high = outlier_counts(array)
    return Statistics(
        count=len(array),
        first=float(array[0]),
        last=float(array[-1]),
        min=float(array.min()),
        median=float(np.median(array)),
        mean=float(array.mean()),
        p90=percentile(array, 90),
        p99=percentile(array, 99),
        max=float(array.max()),
        std=float(array.std()),
        spread=spread(array),
        median_interval=median_interval(array, resamples=resamples),
        low_outliers=low,
        high_outliers=high,
    )


def spread(values: Sequence[float] | Floats) -> float:
    """Interquartile range / median, the robust twin of the coefficient of variation; 0 where the median is 0."""
    q1, median, q3 = np.percentile(np.asarray(values, dtype=np.float64), (25, 50, 75))
    return float((q3 - q1) / median) if median > 0 else 0.0


def outlier_counts(values: Sequence[float] | Floats) -> tuple[int, int]:
    """Values below and above Tukey's outer fences, 3 interquartile ranges from the quartiles (Tukey 1977)."""
    array = np.asarray(values, dtype=np.float64)
    q1, q3 = np.percentile(array, (25, 75))
    fence = 3 * (q3 - q1)
    return int(np.sum(array < q1 - fence)), int(np.sum(array > q3 + fence))


def _resampled_medians(array: Floats, rng: np.random.Generator, resamples: int) -> Floats:
    """Medians of ``resamples`` draws with replacement, a bounded number of elements at a time."""
    rows = max(1, _CHUNK_ELEMENTS // len(array))
    parts = []
    for begin in range(0, resamples, rows):
        index = rng.integers(0, len(array), size=(min(rows, resamples - begin), len(array)))
        parts.append(np.median(array[index], axis=1))
    return np.concatenate(parts)


def median_interval(
    values: Sequence[float] | Floats,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval | None:
    """Percentile bootstrap interval of the median (Efron and Tibshirani 1993, chapter 13); None below two values."""
    array = np.asarray(values, dtype=np.float64)
    if len(array) < 2:
        return None
    medians = _resampled_medians(array, np.random.default_rng(seed), resamples)
    return _central(medians, confidence)


def ratio_interval(
    values: Sequence[float],
    reference: Sequence[float],
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Interval | None:
    """Bootstrap interval of median(values) / median(reference), both resampled independently.

    None where either has fewer than two values or the reference can be 0.
    """
    top, bottom = (np.asarray(v, dtype=np.float64) for v in (values, reference))
    if len(top) < 2 or len(bottom) < 2 or bottom.min() <= 0:
        return None
    rng = np.random.default_rng(seed)
    ratios = _resampled_medians(top, rng, resamples) / _resampled_medians(bottom, rng, resamples)
    return _central(ratios, confidence)


def _central(samples: Floats, confidence: float) -> Interval:
    tail = 50 * (1 - confidence)
    low, high = np.percentile(samples, (tail, 100 - tail))
    return Interval(float(low), float(high))


def trend(values: Sequence[float]) -> float:
    """How much the series rises from its first to its last value, relative to its median: 0.1 is 10 percent slower.

    The slope is the median of the slopes of all pairs (Theil 1950, Sen 1968), which a few outliers do not move. Long
    series are first reduced to the medians of 256 blocks. 0 for fewer than four values.
    """
    array = np.asarray(values, dtype=np.float64)
    if len(array) < 4:
        return 0.0
    if len(array) > _TREND_BLOCKS:
        array = np.array([np.median(block) for block in np.array_split(array, _TREND_BLOCKS)])
    median = float(np.median(array))
    if median <= 0:
        return 0.0
    first, second = np.triu_indices(len(array), k=1)
    slope = float(np.median((array[second] - array[first]) / (second - first)))
    return slope * (len(array) - 1) / median


def drift(values: Sequence[float]) -> float:
    """Median of the last quarter / median of the first quarter - 1: a throttling board gives a positive number.

    0 for fewer than eight values, where the first quarter is 0, and where the middle halves of both quarters overlap:
    then noise alone may have moved the medians.
    """
    array = np.asarray(values, dtype=np.float64)
    quarter = len(array) // 4
    if quarter < 2:
        return 0.0
    first_q1, first, first_q3 = np.percentile(array[:quarter], (25, 50, 75))
    last_q1, last, last_q3 = np.percentile(array[-quarter:], (25, 50, 75))
    if first <= 0 or (last_q1 <= first_q3 and first_q1 <= last_q3):
        return 0.0
    return float(last / first - 1)


def histogram(values: Sequence[float], most_bins: int = 40) -> tuple[list[float], list[int]]:
    """Bin edges (n + 1) and counts (n), with the Freedman-Diaconis width (1981) and at most ``most_bins`` bins."""
    array = np.asarray(values, dtype=np.float64)
    if not len(array) or array.min() == array.max():
        value = float(array[0]) if len(array) else 0.0
        return [value - 0.5, value + 0.5], [len(array)]
    q1, q3 = np.percentile(array, (25, 75))
    width = 2 * (q3 - q1) / len(array) ** (1 / 3)
    wanted = (array.max() - array.min()) / width if width > 0 else most_bins
    counts, edges = np.histogram(array, bins=int(np.clip(np.ceil(wanted), 5, most_bins)))
    return [float(e) for e in edges], [int(c) for c in counts]
