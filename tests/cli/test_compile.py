"""``compile`` and what follows: one artifact, whole or not at all, that runs and is measured."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.config import Config
from tests.cli.conftest import Outcome
from tests.models import chain_model

pytest.importorskip("ziglang", reason="needs the compiler")


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    (tmp_path / "chain.onnx").write_bytes(chain_model().SerializeToString())
    return tmp_path / "chain.onnx"


@pytest.fixture
def call(cli) -> Callable[..., Outcome]:
    """``cli`` with the user's own cache, because the first build of a machine takes a minute."""
    cache = str(Config.from_environment().cache_dir)
    return lambda *arguments: cli(*arguments, environment={"CUVIL_CACHE_DIR": cache})


def test_artifact_runs_and_gives_right_answers(call, chain, tmp_path):
    path = tmp_path / "out.cuvil"
    compiled = call("compile", chain, "-o", path, "--json")
    assert compiled.status == 0, compiled
    with ArtifactReader(path) as artifact:
        artifact.verify()
        assert artifact.sha256 == compiled.json["sha256"]
    x = np.random.default_rng(0).standard_normal((2, 5, 3)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    ran = call("run", path, "--input", f"x={tmp_path / 'x.npy'}", "--output", tmp_path / "out", "--json")
    assert ran.json["symbols"] == {"N": 2, "M": 3}
    positive = np.maximum(x + np.arange(5, dtype=np.float32)[:, None], 0).transpose(0, 2, 1)
    np.testing.assert_allclose(np.load(tmp_path / "out" / "y.npy"), 1 / (1 + np.exp(-positive)), rtol=1e-5)


def test_stages_with_their_times_and_reasons(call, chain, tmp_path):
    outcome = call("compile", chain, "-o", tmp_path / "out.cuvil", "--verbose")
    for stage in ("import: ", "simplify: ", "lower: ", "plan: ", "build: ", "link: "):
        assert stage in outcome.out
    assert f"{tmp_path}/out.cuvil: chain, " in outcome.out


def test_default_name_is_the_models(call, chain):
    assert call("compile", chain).status == 0
    assert Path("chain.cuvil").is_file()


def test_same_bytes_each_time(call, chain, tmp_path):
    for name in ("a.cuvil", "b.cuvil"):
        assert call("compile", chain, "-o", tmp_path / name).status == 0
    assert (tmp_path / "a.cuvil").read_bytes() == (tmp_path / "b.cuvil").read_bytes()


def test_failure_leaves_the_artifact_that_was_there(call, tmp_path):
    (tmp_path / "out.cuvil").write_bytes(b"before")
    (tmp_path / "broken.onnx").write_bytes(b"no model")
    assert call("compile", tmp_path / "broken.onnx", "-o", tmp_path / "out.cuvil").status == 1
    assert (tmp_path / "out.cuvil").read_bytes() == b"before"
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["broken.onnx", "out.cuvil"]


def test_place_that_cannot_be_written_is_named_before_the_work(cli, chain, tmp_path):
    assert "folder" in cli("compile", chain, "-o", tmp_path, "--json").error["what"]
    assert "does not exist" in cli("compile", chain, "-o", tmp_path / "no" / "out.cuvil", "--json").error["what"]


def test_compiler_that_is_not_installed(cli, chain, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    error = cli("compile", chain, "-o", tmp_path / "out.cuvil", "--compiler", "clang", "--json").error
    assert error["kind"] == "compile"
    assert not (tmp_path / "out.cuvil").exists()


def test_unknown_precision(cli, chain):
    assert cli("compile", chain, "--precision", "f8", "--json").error["kind"] == "usage"


def test_kernel_cache_that_cannot_be_written(cli, chain, tmp_path):
    (tmp_path / "file").write_text("in the way")
    outcome = cli(
        "compile", chain, "-o", tmp_path / "out.cuvil", environment={"CUVIL_CACHE_DIR": str(tmp_path / "file")}
    )
    assert outcome.status in (1, 2)
    assert "internal error" not in outcome.err
    assert not (tmp_path / "out.cuvil").exists()


def test_run_and_profile_compile_a_model_themselves(call, chain, tmp_path):
    assert call("run", chain, "--random", "--dim", "N=2", "--json").json["outputs"]["y"]["shape"][0] == 2
    outcome = call("profile", chain, "--runs", 2, "--run-folder", tmp_path / "run", "--json")
    assert outcome.json["report"]["verification"]["passed"] is True


def test_deploy_without_a_device_runs_here(call, chain, tmp_path):
    outcome = call("deploy", chain, "--runs", 2, "--shape", "x=2x5x7", "--output", tmp_path / "out", "--json")
    assert outcome.status == 0, outcome
    assert outcome.json["transport"] == "local"
    assert np.load(tmp_path / "out" / "y.npy").shape == (2, 7, 5)


@pytest.mark.cross
def test_deploy_for_a_board_without_a_device_counts_instructions(call, chain, tmp_path):
    outcome = call("deploy", chain, "--board", "raspberry-pi-4", "--run-folder", tmp_path / "run", "--json")
    assert outcome.status == 0, outcome
    assert outcome.json["transport"] == "emulator"
    assert "emulator" in outcome.json["note"]
    assert outcome.json["verifications"][0]["passed"] is True
    assert outcome.json["no_measurement"] is not None or outcome.json["report"]["header"]["unit"] == "instructions"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, timeout=30, check=False
    )
    if done.returncode != 0:
        pytest.skip("this machine does not allow mounts")
    yield folder
    subprocess.run(["umount", str(folder)], timeout=30, check=True)


@pytest.mark.root
def test_full_disk_for_the_artifact(call, chain, small_disk):
    outcome = call("compile", chain, "-o", small_disk / "out.cuvil", "--json")
    assert outcome.error["kind"] == "disk_full"
    assert list(small_disk.iterdir()) == []


@pytest.mark.root
def test_full_disk_for_the_kernel_cache(cli, chain, small_disk, tmp_path):
    outcome = cli(
        "compile", chain, "-o", tmp_path / "out.cuvil", "--json", environment={"CUVIL_CACHE_DIR": str(small_disk)}
    )
    assert outcome.error["kind"] in ("disk_full", "compile")
    assert not (tmp_path / "out.cuvil").exists()


@pytest.mark.root
def test_full_disk_for_outputs(call, chain, small_disk):
    (small_disk / "filler").write_bytes(bytes(60 << 10))
    outcome = call("run", chain, "--shape", "x=8x5x1000", "--output", small_disk / "out", "--json")
    assert outcome.error["kind"] == "disk_full"
    assert list((small_disk / "out").iterdir()) == []
