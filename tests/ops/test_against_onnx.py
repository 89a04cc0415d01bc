"""Every operation that ONNX has too gives what ONNX's own reference evaluator gives; the others have closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cuvil_edge.ir.op import Sample
from tests.ops.onnx_nodes import TRANSLATIONS, evaluate
from tests.ops.operations import OPS, assert_same, run

OWN_FORMS = {
    "global_lp_pool": "has no reference in ONNX",
    "extents": "has no ONNX operator",
    "fused_elementwise": "has no ONNX operator",
    "space_to_depth": "is the inverse of depth_to_space",
    "swish": "is sigmoid and mul",
}


def test_every_operation_has_an_oracle() -> None:
    assert set(OPS) == set(TRANSLATIONS) | set(OWN_FORMS)


def _is_disputed_resize(sample: Sample) -> bool:
    return any(part in sample.name for part in ("align_corners_down", "crop_and_resize_down", "tf_half_pixel_for_nn"))


FAULTS: dict[str, tuple[str, Callable[[Sample], bool]]] = {
    "conv_transpose": ("adds the bias of the first group to all", lambda sample: getattr(sample.op, "group", 1) > 1),
    "gather_elements": ("numpy.choose needs equal extents", lambda sample: not _has_equal_extents(sample)),
    "global_max_pool": ("knows two spatial axes only", lambda sample: np.ndim(sample.inputs[0]) != 4),
    "log_softmax": ("the logarithm of an underflow", lambda sample: sample.name in ("large", "masked")),
    "lp_normalization": ("sums without magnitudes", lambda sample: getattr(sample.op, "p", 0) == 1),
    "lrn": ("takes the batch for the channels", lambda sample: np.shape(sample.inputs[0])[0] != 5),
    "matmul": ("has no bias", lambda sample: len(sample.inputs) > 2),
    "reduce_sum_square": ("i32 becomes i64", lambda sample: sample.name == "i32"),
    "resize": ("aligns corners of a fractional extent, and forgot an old mode", _is_disputed_resize),
    "softsign": ("a scalar is no array", lambda sample: np.ndim(sample.inputs[0]) == 0),
    "transpose": ("an empty permutation has no type", lambda sample: np.ndim(sample.inputs[0]) == 0),
}
"""Samples that ONNX's evaluator gets wrong or refuses, and what it does; ``test_closed_forms`` has answers for them."""


def _has_equal_extents(sample: Sample) -> bool:
    x, indices = (np.asarray(array) for array in sample.inputs)
    axis = sample.op.axis  # type: ignore[attr-defined]
    return np.delete(x.shape, axis).tolist() == np.delete(indices.shape, axis).tolist()


def _can_be_asked(sample: Sample) -> bool:
    if getattr(sample.op, "channels_last", False) or getattr(sample.op, "epilogue", None) is not None:
        return False  # a layout or a tail that ONNX does not have
    return sample.op.name not in FAULTS or not FAULTS[sample.op.name][1](sample)


@pytest.mark.parametrize("name", TRANSLATIONS)
def test_the_reference_agrees_with_onnx(name: str) -> None:
    asked = 0
    for sample in OPS[name].samples():
        if _can_be_asked(sample):
            want = run(sample.op, sample.inputs)
            try:
                assert_same(evaluate(TRANSLATIONS[name](sample), len(want)), want)
            except Exception as error:
                error.add_note(f"sample {sample.name}: {sample.op}")
                raise
            asked += 1
    assert asked
