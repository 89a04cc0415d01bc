"""Real models: what the front end makes of them gives, through the references, the answers of another runtime."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.frontends.onnx import import_onnx
from cuvil_edge.ir.evaluate import reference_run
from cuvil_edge.ir.graph import Graph
from cuvil_edge.ir.verify import verify
from tests.golden_models import EXPORTED, GOLDEN, MODELS, GoldenCase, GoldenModel, load_golden

pytestmark = pytest.mark.golden
CASES = 2
NAMES = (*GOLDEN, *EXPORTED, "minilm6", "bert_base")
# A pure tone leaves most of basic_pitch's bins nearly silent; their logarithm shows in which order sums were made.
TOLERANCE = {"basic_pitch": 5e-3}
OUTPUTS = {
    "efficientnet_lite0_folded": "f32[N, 1000]",
    "efficientnet_lite0_bn": "f32[N, 1000]",
    "magika": "f32[unk__214, 214]",
    "mnist8": "f32[1, 10]",
    "ppocr_cls": "f32[x_0, 2]",
    "ppocr_rec": "f32[`p2o.DynamicDimension.0`, ((3+`p2o.DynamicDimension.1`)//8), 6625]",
    "resnet50": "f32[1, 1000]",
    "yolov8n": "f32[1, 84, 8400]",
}


def _compare(graph: Graph, case: GoldenCase, tolerance: float) -> None:
    names = [value.name for value in graph.inputs]
    feeds = dict(zip(names, case.inputs.values(), strict=True)) if len(names) == 1 else case.inputs
    results = dict(zip(graph.output_names, reference_run(graph, feeds), strict=True))
    expected = (
        case.outputs
        if case.outputs.keys() == results.keys()
        else dict(zip(results, case.outputs.values(), strict=True))
    )
    for name, want in expected.items():
        got = results[name]
        assert got.shape == want.shape
        error = float(np.abs(got.astype(np.float64) - want).max())
        assert error <= tolerance * max(float(np.ptp(want)), 1e-3), f"{case.name}: {name} differs by {error:.3g}"


def _check(model: GoldenModel) -> None:
    imported = import_onnx(model.path)
    verify(imported.graph)
    if model.name in OUTPUTS:
        assert str(imported.graph.outputs[0].type) == OUTPUTS[model.name]
    assert model.cases
    for case in model.cases[:CASES]:
        _compare(imported.graph, case, TOLERANCE.get(model.name, 1e-4))


@pytest.mark.parametrize("name", NAMES)
def test_the_references_give_the_answers_of_another_runtime(name: str) -> None:
    _check(load_golden(name))


def test_int8_weights_and_shape_subgraphs_of_a_text_encoder() -> None:
    path = MODELS / "onnx" / "minilm_l6_int8.onnx"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    imported = import_onnx(path)
    assert str(imported.graph.outputs[0].type) == "f32[batch, sequence, 384]"
    [file, *_] = sorted((MODELS / "golden").glob("minilm_l6_int8__*.npz"))
    arrays = np.load(file)
    sides = [
        {key[len(side) :]: arrays[key] for key in arrays.files if key.startswith(side)} for side in ("in::", "out::")
    ]
    _compare(imported.graph, GoldenCase(file.stem, *sides), 1e-4)


def test_multiples_make_the_checks_of_a_detector_vanish() -> None:
    model = load_golden("ppocr_det")
    height, width = "p2o.DynamicDimension.1", "p2o.DynamicDimension.2"
    assert import_onnx(model.path).graph.checks.pending
    graph = import_onnx(model.path, dims={height: (32, 1024, 32), width: (32, 1024, 32)}).graph
    assert not graph.checks.pending
    assert str(graph.outputs[0].type) == f"f32[`p2o.DynamicDimension.0`, 1, `{height}`, `{width}`]"


@pytest.mark.parametrize("name", ["efficientnet_lite0_folded", "magika"])
def test_a_batch_is_its_rows_one_by_one(name: str) -> None:
    model = load_golden(name)
    graph = import_onnx(model.path).graph
    arrays = [next(iter(case.inputs.values())) for case in model.cases[:3]]
    [together] = reference_run(graph, {graph.inputs[0].name: np.concatenate(arrays)})
    alone = [reference_run(graph, {graph.inputs[0].name: array})[0] for array in arrays]
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=1e-4, atol=1e-5)
