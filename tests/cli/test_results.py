"""Summaries of outputs: numbers that are right, and NaN that is not hidden."""

from __future__ import annotations

import json

import numpy as np

from cuvil_edge.cli._results import summarize_array, summary_text


def test_scores_show_the_largest():
    summary = summarize_array(np.array([[0.1, 0.7, 0.2]], np.float32))
    assert [entry["index"] for entry in summary["largest"]] == [1, 2, 0]
    assert summary["max"] == np.float32(0.7)
    assert "[1] 0.7" in summary_text(summary)


def test_picture_shows_no_scores():
    assert "largest" not in summarize_array(np.zeros((1, 2, 4), np.float32))


def test_nan_and_infinity_are_counted_and_left_out_of_the_rest():
    summary = summarize_array(np.array([1, np.nan, np.inf, 3], np.float32))
    assert (summary["min"], summary["max"], summary["mean"]) == (1, 3, 2)
    assert (summary["nan_count"], summary["infinite_count"]) == (1, 1)
    json.dumps(summary, allow_nan=False)
    assert "1 NaN" in summary_text(summary)


def test_nothing_but_nan():
    summary = summarize_array(np.full(3, np.nan, np.float32))
    assert "min" not in summary
    json.dumps(summary, allow_nan=False)


def test_all_dtypes_and_empty_and_scalar():
    for dtype in (np.float16, np.float64, np.int8, np.uint64, np.bool_):
        json.dumps(summarize_array(np.ones((2, 2), dtype)), allow_nan=False)
    assert summarize_array(np.zeros((0, 3), np.float32))["shape"] == [0, 3]
    assert "scalar" in summary_text(summarize_array(np.array(1.5, np.float32)))
