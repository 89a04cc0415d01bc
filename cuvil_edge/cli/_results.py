"""Outputs of a run in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cuvil_edge.cli._array_files import Array

_TOP = 5
_MOST_CLASSES = 100_000


def summarize_array(array: Array) -> dict[str, Any]:
    """dtype, shape, least, greatest, mean, how many are NaN or infinite; the largest ones of a vector of scores."""
    summary: dict[str, Any] = {"dtype": str(array.dtype), "shape": list(array.shape)}
    if not array.size:
        return summary
    values = array.astype(np.float64) if array.dtype.kind != "f" or array.dtype.itemsize < 4 else array
    finite = np.isfinite(values)
    if finite.any():
        kept = values[finite]
        summary |= {"min": float(kept.min()), "max": float(kept.max()), "mean": float(kept.mean(dtype=np.float64))}
    if nans := int(np.isnan(values).sum()):
        summary["nan_count"] = nans
    if infinities := int(np.isinf(values).sum()):
        summary["infinite_count"] = infinities
    scores = values.reshape(-1)
    if array.dtype.kind == "f" and finite.all() and _is_vector(array):
        order = np.argsort(-scores, kind="stable")[:_TOP]
        summary["largest"] = [{"index": int(i), "value": float(scores[i])} for i in order]
    return summary


def _is_vector(array: Array) -> bool:
    """One row of scores: all axes but the last have the extent 1."""
    return array.ndim > 0 and 1 < array.size <= _MOST_CLASSES and array.shape[-1] == array.size


def summary_text(summary: Mapping[str, Any]) -> str:
    """A summary on one line."""
    shape = " x ".join(map(str, summary["shape"])) or "scalar"
    parts = [f"{summary['dtype']}  {shape}"]
    if "min" in summary:
        parts.append(f"{summary['min']:.6g} .. {summary['max']:.6g}, mean {summary['mean']:.6g}")
    parts += [
        f"{summary[key]} {words}"
        for key, words in (("nan_count", "NaN"), ("infinite_count", "infinite"))
        if key in summary
    ]
    if "largest" in summary:
        parts.append("largest: " + ", ".join(f"[{e['index']}] {e['value']:.5g}" for e in summary["largest"]))
    return "  ".join(parts)
