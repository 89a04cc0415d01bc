"""The compiler as a whole: real models give the known answers on every instruction set, batch and image size.

Risks: a kernel that is right alone is wrong in a model; a symbolic extent is resolved wrongly; two builds differ.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cuvil_edge
from cuvil_edge.codegen.build import Builder
from cuvil_edge.compiler import Artifact
from cuvil_edge.config import Config
from cuvil_edge.errors import CompileError, UsageError
from cuvil_edge.runtime.session import InferenceContext
from cuvil_edge.target.target import host_target
from tests.golden_models import EXPORTED, GOLDEN, GoldenModel, assert_close, load_golden
from tests.models import chain_model

HOST_ISAS = ("scalar", "x86_64_avx2", "x86_64_avx512")
SYMBOLIC_BATCH = ("efficientnet_lite0_folded", "ppocr_det", "ppocr_rec", "ppocr_cls", "magika", "basic_pitch")


def host_isas() -> list[str]:
    """The instruction sets of this test that this machine has."""
    found = []
    for isa in HOST_ISAS:
        try:
            host_target(isa)
            found.append(isa)
        except cuvil_edge.CuvilError:
            continue
    return found


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory):
    """Artifacts by model and instruction set, compiled once; kernels come from the user's own cache."""
    made: dict[tuple[str, str], Path] = {}

    def get(model: GoldenModel, isa: str) -> Path:
        if (model.name, isa) not in made:
            path = tmp_path_factory.mktemp("artifacts") / f"{model.name}.{isa}.cuvil"
            made[model.name, isa] = cuvil_edge.compile(model.path, target="host", isa=isa).save(path)
        return made[model.name, isa]

    return get


def run_case(context: InferenceContext, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    return list(context.run({tensor.name: inputs[tensor.name] for tensor in context.inputs}).values())


@pytest.mark.golden
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("isa", host_isas())
@pytest.mark.parametrize("name", [*GOLDEN, *EXPORTED])
def test_known_answers(name: str, isa: str, threads: int, compiled) -> None:
    model = load_golden(name)
    with InferenceContext(compiled(model, isa), threads=threads) as context:
        for case in model.cases[:3]:
            for got, (output, want) in zip(run_case(context, case.inputs), case.outputs.items(), strict=True):
                assert_close(got, want, f"{case.name}: {output}")


@pytest.mark.golden
@pytest.mark.parametrize("name", SYMBOLIC_BATCH)
def test_a_batch_answers_like_its_images_alone(name: str, compiled) -> None:
    model = load_golden(name)
    with InferenceContext(compiled(model, host_isas()[-1])) as context:
        case = model.cases[0]
        random = np.random.default_rng()
        for batch in (3, 1, 2):
            stacked = {key: np.concatenate([array] * batch) for key, array in case.inputs.items()}
            for array in stacked.values():
                if array.dtype.kind == "f":
                    array[1:] += random.standard_normal(array[1:].shape).astype(array.dtype) * 0.01
            together = run_case(context, stacked)
            for index in range(batch):
                alone = run_case(context, {key: array[index : index + 1] for key, array in stacked.items()})
                for got, want in zip(together, alone, strict=True):
                    assert_close(got[index : index + 1], want, f"image {index} of {batch}")


@pytest.mark.golden
def test_image_sizes_change_without_recompiling(compiled) -> None:
    from cuvil_edge.frontends.onnx import import_onnx
    from cuvil_edge.ir.evaluate import reference_run

    model = load_golden("ppocr_det")
    graph = import_onnx(model.path).graph
    with InferenceContext(compiled(model, host_isas()[-1])) as context:
        for height, width in ((64, 32), (32, 96), (96, 64)):
            image = np.random.default_rng().standard_normal((1, 3, height, width)).astype(np.float32)
            [want] = reference_run(graph, {"x": image})
            assert_close(run_case(context, {"x": image})[0], want, f"{height}x{width}")


@pytest.mark.golden
def test_an_image_size_that_does_not_fit_is_refused_in_words(compiled) -> None:
    model = load_golden("ppocr_det")
    with InferenceContext(compiled(model, host_isas()[-1])) as context:
        with pytest.raises(cuvil_edge.CuvilError) as caught:
            run_case(context, {"x": np.zeros((1, 3, 70, 64), np.float32)})
        assert "is 5," in str(caught.value)
        assert "is 6" in str(caught.value)
        run_case(context, {"x": np.zeros((1, 3, 64, 64), np.float32)})


def test_two_builds_have_the_same_bytes(tmp_path: Path) -> None:
    model = chain_model()
    paths = [cuvil_edge.compile(model).save(tmp_path / f"{index}.cuvil") for index in range(2)]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_the_model_may_be_a_path_bytes_or_a_proto(tmp_path: Path) -> None:
    model = chain_model()
    (tmp_path / "chain.onnx").write_bytes(model.SerializeToString())
    hashes = {
        cuvil_edge.compile(source).manifest.model.sha256
        for source in (model, model.SerializeToString(), tmp_path / "chain.onnx", str(tmp_path / "chain.onnx"))
    }
    assert len(hashes) == 1


def test_stages_tell_what_they_did() -> None:
    stages = {stage.name: stage for stage in cuvil_edge.compile(chain_model()).stages}
    assert list(stages) == ["import", "reference", "simplify", "lower", "plan", "build", "link"]
    assert all(stage.duration_ns > 0 for stage in stages.values())
    assert any("fused" in change for change in stages["lower"].changes)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UsageError, match="raspberry-pi-5"):
        cuvil_edge.compile(chain_model(), board="rasberry-pi-5")
    with pytest.raises(UsageError):
        cuvil_edge.compile(chain_model(), target="host", board="raspberry-pi-5")
    with pytest.raises(UsageError):
        cuvil_edge.compile(chain_model(), precision="f8")


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompileError, match="not installed"):
        Builder(host_target(), Config(tmp_path, tmp_path), "clang")


def test_save_keeps_the_old_file_when_the_folder_is_gone(tmp_path: Path) -> None:
    artifact: Artifact = cuvil_edge.compile(chain_model())
    with pytest.raises(cuvil_edge.CuvilError):
        artifact.save(tmp_path / "missing" / "model.cuvil")
