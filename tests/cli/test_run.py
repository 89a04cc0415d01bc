"""``run`` on a model made by hand: right answers, files, and every way to give wrong inputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuvil_edge.artifact.manifest import TargetInfo
from cuvil_edge.artifact.writer import write_artifact
from tests.runtime.conftest import WEIGHTS, compile_library, expected_outputs, make_inputs, make_manifest

pytest.importorskip("cuvil_edge._runtime", reason="needs the built runtime")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return compile_library(tmp_path_factory.mktemp("fake"))


@pytest.fixture
def make_artifact(tmp_path: Path, library: bytes) -> Callable[..., Path]:
    def make(**changes: Any) -> Path:
        manifest = make_manifest(**changes)
        write_artifact(
            tmp_path / "fake.cuvil", manifest, {manifest.library_name: library, "weights.bin": WEIGHTS.tobytes()}
        )
        return tmp_path / "fake.cuvil"

    return make


def flags(folder: Path, inputs: dict[str, Any]) -> list[str]:
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
    return [f"--input={name}={folder / name}.npy" for name in inputs]


def test_right_answers_in_files(cli, make_artifact, tmp_path):
    inputs = make_inputs(3, row=1)
    outcome = cli("run", make_artifact(), *flags(tmp_path, inputs), "--output", tmp_path / "out", "--json")
    assert outcome.json["symbols"] == {"N": 3}
    for name, expected in expected_outputs(inputs).items():
        file = outcome.json["outputs"][name]["file"]
        np.testing.assert_allclose(np.load(file), expected, rtol=1e-6)


def test_summary_for_people(cli, make_artifact, tmp_path):
    outcome = cli("run", make_artifact(), *flags(tmp_path, make_inputs(2)), "--threads", 1)
    assert outcome.status == 0
    assert "fake: first run in" in outcome.out
    assert "on 1 thread" in outcome.out
    assert "picked" in outcome.out
    assert outcome.err == ""


def test_random_inputs_say_so(cli, make_artifact):
    outcome = cli("run", make_artifact(), "--random")
    assert outcome.status == 0
    assert "random inputs" in outcome.out


def test_missing_inputs_are_listed(cli, make_artifact, tmp_path):
    inputs = make_inputs(2)
    del inputs["scale"]
    outcome = cli("run", make_artifact(), *flags(tmp_path, inputs))
    assert outcome.status == 1
    assert "scale: f32 (numpy float32), N" in outcome.err


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ({"scale": np.ones(5, np.float32)}, "shape", "disagree"),
        ({"image": np.ones((2, 4, 1), np.float32)}, "input", "rank"),
        ({"image": np.ones((2, 4), np.float64)}, "input", "dtype"),
        ({"image": np.ones((2, 5), np.float32)}, "input", "shape"),
        ({"row": np.array(99, np.int64)}, "runtime_failure", ""),
    ],
)
def test_wrong_arrays_are_named(cli, make_artifact, tmp_path, change, kind, words):
    outcome = cli(
        "run", make_artifact(), *flags(tmp_path, make_inputs(2) | change), "--output", tmp_path / "out", "--json"
    )
    assert outcome.status == 1
    assert outcome.error["kind"] == kind
    assert words in outcome.error["what"]
    assert not (tmp_path / "out").exists()


def test_nan_in_is_nan_out_and_counted(cli, make_artifact, tmp_path):
    inputs = make_inputs(2)
    inputs["scale"][:] = np.nan
    outcome = cli("run", make_artifact(), *flags(tmp_path, inputs), "--json")
    assert outcome.status == 0


@pytest.mark.parametrize("position", [0, 40, 500, -1, -40])
def test_one_changed_byte_is_found(cli, make_artifact, position):
    path = make_artifact()
    content = bytearray(path.read_bytes())
    content[position] ^= 0x40
    path.write_bytes(content)
    outcome = cli("run", path, "--random", "--json")
    assert outcome.error["kind"] in ("artifact", "model")


def test_artifact_for_another_architecture(cli, make_artifact):
    target = TargetInfo("pi", "raspberry-pi-5", "arm64_neon", "sparc", "sparc-linux", "x", ())
    outcome = cli("run", make_artifact(target=target), "--random", "--json")
    assert outcome.error["kind"] == "incompatible"


def test_artifact_for_a_better_cpu_names_what_is_missing(cli, make_artifact):
    target = make_manifest().target
    better = TargetInfo("test", None, "scalar", target.arch, target.triple, "x", ("not_a_feature",))
    outcome = cli("run", make_artifact(target=better), "--random", "--json")
    assert outcome.error["kind"] == "incompatible"
    assert "not_a_feature" in str(outcome.error)


def test_model_arguments_with_an_artifact_are_refused(cli, make_artifact):
    outcome = cli("run", make_artifact(), "--random", "--dim", "N=1", "--json")
    assert "cannot be compiled again" in outcome.error["what"]


def test_missing_file(cli, tmp_path):
    assert cli("run", tmp_path / "none.cuvil", "--json").error["found"] == "No such file or directory"


def test_cpu_that_does_not_exist(cli, make_artifact):
    assert cli("run", make_artifact(), "--random", "--cpus", "4000").status == 2
