"""Disks that are full or cannot be written, under the whole compiler: a sentence, nothing half done, and then it works.

Risks: a half object is kept and linked later; the compiler's own "no space" is shown as a mistake of the model; a cache
that others filled and that cannot be written is useless.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import cuvil_edge
from cuvil_edge.cli._main import run
from cuvil_edge.config import Config
from cuvil_edge.errors import CompileError, DiskFullError
from cuvil_edge.runtime.session import InferenceContext
from tests.models import chain_model, every_family_model

pytest.importorskip("ziglang", reason="needs the compiler")

Mount = Callable[[str, str], Path]


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """A function that mounts a small file system in memory."""
    mounted: list[Path] = []

    def make(name: str, options: str) -> Path:
        folder = tmp_path / name
        if folder not in mounted:
            folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if folder in mounted:
            command = ["mount", "-o", f"remount,{options}", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        if done.returncode != 0:
            pytest.skip(f"this machine does not allow to mount: {done.stderr.strip()}")
        if folder not in mounted:
            mounted.append(folder)
        return folder

    yield make
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], capture_output=True, timeout=30, check=False)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def config_of(cache: Path, tmp_path: Path) -> Config:
    return Config(cache_dir=cache, config_dir=tmp_path / "config")


def check_answers(artifact: cuvil_edge.Artifact) -> None:
    x = np.random.default_rng(2).standard_normal((2, 5, 3)).astype(np.float32)
    positive = np.maximum(x + np.arange(5, dtype=np.float32)[:, None], 0).transpose(0, 2, 1)
    with InferenceContext(artifact, threads=1) as context:
        np.testing.assert_allclose(context.run(x)["y"], 1 / (1 + np.exp(-positive)), rtol=1e-5)


@pytest.mark.root
@pytest.mark.parametrize("kilobytes", [4, 24, 100])
def test_a_full_cache_is_told_and_keeps_no_half_object(kilobytes: int, mount: Mount, tmp_path: Path) -> None:
    cache = mount("cache", f"size={kilobytes}k")
    config = config_of(cache, tmp_path)
    with pytest.raises(DiskFullError) as caught:
        cuvil_edge.compile(chain_model(), config=config)
    assert str(cache) in str(caught.value)
    assert "CUVIL_CACHE_DIR" in (caught.value.hint or "") or "space" in (caught.value.hint or "")
    assert not [path for path in files(cache) if path.name.startswith(".new-")]
    mount("cache", "size=64m")
    check_answers(cuvil_edge.compile(chain_model(), config=config))


@pytest.mark.root
def test_a_full_folder_for_temporary_files_is_told(mount: Mount, tmp_path: Path, monkeypatch) -> None:
    folder = mount("temporary", "size=8k")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    with pytest.raises(DiskFullError):
        cuvil_edge.compile(every_family_model(), config=config_of(tmp_path / "cache", tmp_path), isa="scalar")
    assert not files(folder)


@pytest.mark.root
def test_a_full_disk_for_the_artifact_keeps_what_was_there(mount: Mount, tmp_path: Path, capsys) -> None:
    folder = mount("out", "size=64k")
    (folder / "model.cuvil").write_bytes(b"before")
    artifact = cuvil_edge.compile(chain_model())
    with pytest.raises(DiskFullError):
        artifact.save(folder / "model.cuvil")
    assert (folder / "model.cuvil").read_bytes() == b"before"
    assert len(files(folder)) == 1
    (tmp_path / "chain.onnx").write_bytes(chain_model().SerializeToString())
    cache = str(Config.from_environment().cache_dir)
    arguments = ["compile", str(tmp_path / "chain.onnx"), "-o", str(folder / "model.cuvil")]
    assert run(arguments, {"HOME": str(tmp_path), "CUVIL_CACHE_DIR": cache}) == 1
    assert "space" in capsys.readouterr().err
    assert (folder / "model.cuvil").read_bytes() == b"before"


@pytest.mark.root
@pytest.mark.parametrize("variable", ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"])
def test_a_full_cache_of_the_compiler_itself_is_told(variable: str, mount: Mount, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv(variable, str(mount("zig", "size=64k")))
    cache = tmp_path / "cache"
    with suppress(DiskFullError):
        check_answers(cuvil_edge.compile(chain_model(), config=config_of(cache, tmp_path)))
    assert not [path for path in files(cache) if path.name.startswith(".new-")]


@pytest.mark.root
def test_a_read_only_cache_serves_what_it_has_and_tells_what_it_lacks(mount: Mount, tmp_path: Path) -> None:
    config = config_of(mount("cache", "size=64m"), tmp_path)
    cuvil_edge.compile(chain_model(), config=config)
    mount("cache", "ro")
    check_answers(cuvil_edge.compile(chain_model(), config=config))
    with pytest.raises(CompileError) as caught:
        cuvil_edge.compile(every_family_model(), config=config)
    assert "CUVIL_CACHE_DIR" in (caught.value.hint or "")


def test_a_cache_in_the_place_of_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(CompileError) as caught:
        cuvil_edge.compile(chain_model(), config=config_of(tmp_path / "cache", tmp_path))
    assert "CUVIL_CACHE_DIR" in (caught.value.hint or "")


def test_no_compiler_is_told_with_the_command_that_installs_it(tmp_path: Path, monkeypatch, capsys) -> None:
    from importlib.util import find_spec

    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name == "ziglang" else find_spec(name))
    with pytest.raises(CompileError, match="pip install ziglang"):
        cuvil_edge.compile(chain_model(), config=config_of(tmp_path / "cache", tmp_path))
    (tmp_path / "chain.onnx").write_bytes(chain_model().SerializeToString())
    status = run(["compile", str(tmp_path / "chain.onnx"), "-o", str(tmp_path / "out.cuvil")], {"HOME": str(tmp_path)})
    assert status == 1
    assert "pip install ziglang" in capsys.readouterr().err
    assert not (tmp_path / "out.cuvil").exists()
    assert run(["check", str(tmp_path / "chain.onnx")], {"HOME": str(tmp_path)}) == 0, "check needs no compiler"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 1", "exit status 1"),
        ("echo 'error: no such instruction' >&2; exit 3", "no such instruction"),
        ("kill -9 $$", "status"),
        ("exit 0", "empty object"),
    ],
)
def test_a_broken_compiler_is_told(script: str, words: str, tmp_path: Path, monkeypatch) -> None:
    """And what it left behind is not used."""
    program = tmp_path / "bin" / "clang++"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo clang 99 && exit 0\n{script}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    with pytest.raises(CompileError, match=words):
        cuvil_edge.compile(chain_model(), config=config_of(tmp_path / "cache", tmp_path), compiler="clang")
    assert not files(tmp_path / "cache")
