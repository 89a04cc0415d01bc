"""``profile`` on a model made by hand: a run folder that reports can read, facts and verification in it."""

from __future__ import annotations

import numpy as np
import pytest

from cuvil_edge.artifact.manifest import ReferenceCase
from cuvil_edge.artifact.writer import write_artifact
from cuvil_edge.profile.records import Profile
from tests.runtime.conftest import WEIGHTS, compile_library, expected_outputs, make_inputs, make_manifest

pytest.importorskip("cuvil_edge._runtime", reason="needs the built runtime")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compile_library(tmp_path_factory.mktemp("fake"))


@pytest.fixture
def make_artifact(tmp_path, library):
    """An artifact of the fake model with a reference case whose first output is off by ``error``."""

    def make(error: float = 0.0):
        inputs = make_inputs(2, row=1)
        outputs = expected_outputs(inputs)
        outputs["picked"] = outputs["picked"] + np.float32(error)
        arrays = [*inputs.values(), *outputs.values()]
        names = [f"reference/random/{i}.bin" for i in range(6)]
        shapes = [np.shape(array) for array in arrays]
        case = ReferenceCase(
            "random", {"N": 2}, tuple(names[:3]), tuple(shapes[:3]), tuple(names[3:]), tuple(shapes[3:]), 1e-4, 1e-6
        )
        manifest = make_manifest(reference=(case,))
        members = {manifest.library_name: library, "weights.bin": WEIGHTS.tobytes()}
        members |= {name: np.asarray(array).tobytes() for name, array in zip(names, arrays, strict=True)}
        write_artifact(tmp_path / "fake.cuvil", manifest, members)
        return tmp_path / "fake.cuvil"

    return make


def test_run_folder_holds_the_whole_measurement(cli, make_artifact, tmp_path):
    folder = tmp_path / "run"
    outcome = cli(
        "profile", make_artifact(), "--runs", 5, "--warmup", 1, "--threads", 1, "--run-folder", folder, "--json"
    )
    assert outcome.status == 0
    profile = Profile.load(folder)
    assert len(profile.run_wall_ns) == 5
    assert (profile.threads, profile.warmup_runs, profile.board) == (1, 1, "host")
    assert profile.symbols == {"N": 2}
    assert profile.verification is not None
    assert profile.verification.passed
    assert {"kernel", "memory"} <= set(profile.facts_before)
    assert set(profile.facts_before) == set(profile.facts_after)
    assert profile.command is not None
    assert profile.command.startswith("cuvil-edge profile ")
    assert (folder / "manifest.json").is_file()
    assert outcome.json["report"]["header"]["model"] == "fake"


def test_report_and_folder_are_printed(cli, make_artifact):
    outcome = cli("profile", make_artifact(), "--runs", 3)
    assert outcome.status == 0
    assert "Latency" in outcome.out
    assert "Mul_0" in outcome.out
    assert "cuvil-runs/fake-host-" in outcome.out
    assert outcome.err == ""


def test_shape_chooses_the_batch(cli, make_artifact, tmp_path):
    folder = tmp_path / "run"
    assert cli("profile", make_artifact(), "--runs", 2, "--shape", "image=7x4", "--run-folder", folder).status == 0
    assert Profile.load(folder).symbols == {"N": 7}


def test_wrong_answers_are_not_measured(cli, make_artifact, tmp_path):
    outcome = cli("profile", make_artifact(error=5.0), "--run-folder", tmp_path / "run", "--json")
    assert outcome.error["kind"] == "wrong_answer"
    assert "picked" in str(outcome.error["details"])
    assert not (tmp_path / "run").exists()


def test_run_folder_is_checked_before_the_measurement(cli, make_artifact, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "photo.jpg").write_bytes(b"x")
    assert cli("profile", make_artifact(), "--run-folder", tmp_path / "full").status == 2
