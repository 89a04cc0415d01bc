"""Real models with known answers, for tests that have them at hand; never part of the project.

They are looked for in the folder ``$CUVIL_TEST_MODELS``, else beside the checkout (``../shared/models``); exported
benchmark networks in ``$CUVIL_TEST_NETWORKS``, else in the user's cache. Tests skip, saying so, where they are missing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

_CHECKOUT = Path(__file__).resolve().parent.parent
MODELS = Path(os.environ.get("CUVIL_TEST_MODELS") or _CHECKOUT.parent / "shared" / "models")
NETWORKS = Path(os.environ.get("CUVIL_TEST_NETWORKS") or Path.home() / ".cache" / "cuvil-bench" / "models")

GOLDEN = {
    "efficientnet_lite0_folded": ("efficientnet_lite0_folded.onnx", "efficientnet_lite0__*.npz"),
    "efficientnet_lite0_bn": ("efficientnet_lite0_bn.onnx", "efficientnet_lite0__*.npz"),
    "ppocr_det": ("ch_PP-OCRv4_det_infer.onnx", "ppocr_det__*.npz"),
    "ppocr_rec": ("ch_PP-OCRv4_rec_infer.onnx", "ppocr_rec__*.npz"),
    "ppocr_cls": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", "ppocr_cls__*.npz"),
    "magika": ("magika_v3_3.onnx", "magika__*.npz"),
    "basic_pitch": ("basic_pitch.onnx", "basic_pitch__*.npz"),
    "mnist8": ("mnist8.onnx", "mnist8__*.npz"),
}
EXPORTED = ("resnet50", "mobilenetv2", "mobilenetv3l", "yolov8n", "deit_tiny")
RELATIVE_TOLERANCE = 1e-4
"""Of the output's range."""


@dataclass(frozen=True)
class GoldenCase:
    """Named inputs of a model, and the outputs of a reference runtime in the model's own order (or by name)."""

    name: str
    inputs: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]


@dataclass(frozen=True)
class GoldenModel:
    """A model file and its cases."""

    name: str
    path: Path
    cases: tuple[GoldenCase, ...]


def load_golden(name: str) -> GoldenModel:
    """The model and its cases; skips the test where the files are missing."""
    if name in GOLDEN:
        file, pattern = GOLDEN[name]
        path = MODELS / "onnx" / file
        if not path.is_file():
            pytest.skip(f"{path} is not here")
        cases = tuple(_golden_case(found) for found in sorted((MODELS / "golden").glob(pattern)))
        return GoldenModel(name, path, cases)
    path = NETWORKS / f"{name}.onnx"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    arrays = np.load(NETWORKS / f"{name}.npz")
    case = GoldenCase("exported", {"input": arrays["input"]}, {"output": arrays["output"]})
    return GoldenModel(name, path, (case,))


def _golden_case(path: Path) -> GoldenCase:
    arrays = np.load(path)
    sides: dict[str, dict[str, np.ndarray]] = {"in": {}, "out": {}}
    for key in arrays.files:
        side, _, name = key.partition("::")
        sides[side][name.replace("|", "/")] = arrays[key]
    return GoldenCase(path.stem, sides["in"], sides["out"])


def assert_close(got: np.ndarray, want: np.ndarray, what: str) -> None:
    """Within the tolerance of the output's range; integers equal."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    if want.dtype.kind in "iub":
        np.testing.assert_array_equal(got, want, err_msg=what)
        return
    scale = float(np.abs(want).max()) if want.size else 0.0
    error = float(np.abs(got.astype(np.float64) - want).max()) if want.size else 0.0
    assert error <= RELATIVE_TOLERANCE * scale + 1e-6, f"{what}: error {error:.3g} of {scale:.3g}"
