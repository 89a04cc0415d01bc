"""ONNX's own node cases, with expected outputs, through the importer and the reference evaluator.

Inputs that must be known while compiling (axes, shapes) become constants of the model; all others stay inputs. What the
front end does not support must say so; what it accepts must be right.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

from cuvil_edge.errors import UnsupportedError
from cuvil_edge.frontends.onnx import ImportedModel, import_onnx
from cuvil_edge.ir.evaluate import reference_run
from cuvil_edge.ir.verify import verify

DISPUTED = {
    "test_resize_downsample_scales_linear_align_corners": "corners of a fractional extent; runtimes take whole ones",
    "test_resize_downsample_scales_cubic_align_corners": "corners of a fractional extent; runtimes take whole ones",
}
LEAST_PASSED = 1330
"""So many cases passed when this was written, of the 1884 of onnx 1.23; other versions have other numbers."""


@cache
def _cases() -> dict[str, Any]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in collect_testcases(None)}


def _arrays(values: list[Any]) -> list[np.ndarray]:
    return [numpy_helper.to_array(each) if isinstance(each, TensorProto) else np.asarray(each) for each in values]


def _import(model: ModelProto, feeds: dict[str, np.ndarray]) -> ImportedModel:
    """With as many inputs left open as possible: all, all but small ones behind the first, none."""
    names = list(feeds)
    small = [name for name in names[1:] if feeds[name].size <= 1000]
    empty = {f"{name}_{axis}": 0 for name, array in feeds.items() for axis, n in enumerate(array.shape) if n == 0}
    for frozen in ([], small, names):
        copy = ModelProto()
        copy.CopyFrom(model)
        copy.graph.initializer.extend(numpy_helper.from_array(feeds[name], name) for name in frozen)
        try:
            return import_onnx(copy, dims={key: 0 for key in empty if key.rsplit("_", 1)[0] not in frozen})
        except UnsupportedError as error:
            if frozen == names or not any(word in str(error) for word in ("computed while", "depends on the data")):
                raise
    raise AssertionError("unreachable")


def _run(case: Any) -> None:
    if not all(value.type.HasField("tensor_type") for value in case.model.graph.input):
        import_onnx(case.model)
        raise AssertionError("inputs that are no tensors were accepted")
    for inputs, outputs in case.data_sets:
        feeds = dict(zip([value.name for value in case.model.graph.input], _arrays(inputs), strict=False))
        imported = _import(case.model, feeds)
        verify(imported.graph)
        with np.errstate(all="ignore"):
            results = reference_run(imported.graph, {v.name: feeds[v.name] for v in imported.graph.inputs})
        for got, want in zip(results, _arrays(outputs), strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            relative = max(case.rtol, 2e-3 if got.dtype == np.float16 else 1e-3)
            np.testing.assert_allclose(got, want, rtol=relative, atol=max(case.atol, relative * 1e-2), equal_nan=True)


def test_every_node_case_is_right_or_refused() -> None:
    passed, refused, wrong = 0, 0, []
    for name, case in _cases().items():
        if name in DISPUTED:
            continue
        try:
            _run(case)
            passed += 1
        except UnsupportedError:
            refused += 1
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {str(error)[:300]}")
    assert not wrong, f"{len(wrong)} wrong, {passed} right, {refused} refused\n" + "\n".join(wrong[:30])
    if len(_cases()) >= 1884:
        assert passed >= LEAST_PASSED, f"{passed} passed, {refused} refused"


@pytest.mark.parametrize("name", DISPUTED)
def test_disputed_cases_still_exist(name: str) -> None:
    case = _cases().get(name)
    if case is None:
        pytest.skip("this version of onnx does not have it")
    with pytest.raises(AssertionError):
        _run(case)
