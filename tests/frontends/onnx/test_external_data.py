"""External data: only regular files below the model's folder, only the bytes that are there."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest

from cuvil_edge.errors import CuvilError, ModelError
from cuvil_edge.frontends.onnx import import_onnx
from cuvil_edge.frontends.onnx.external_data import ModelFolder
from tests.frontends.onnx.onnx_models import make_model, one_node

WEIGHTS = np.arange(300, dtype=np.float32).reshape(3, 100)


def _read(folder: Path, location: str, **entries: str) -> np.ndarray:
    return ModelFolder(str(folder)).read({"location": location, **entries}, 8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model's folder with eight bytes of weights, beside a secret."""
    inside = tmp_path / "model"
    (inside / "sub").mkdir(parents=True)
    (inside / "w.bin").write_bytes(b"01234567")
    (inside / "sub" / "w.bin").write_bytes(b"89abcdef")
    (tmp_path / "secret").write_bytes(b"password")
    return inside


def test_files_beside_the_model_and_below_are_read(folder: Path) -> None:
    assert _read(folder, "w.bin").tobytes() == b"01234567"
    assert _read(folder, "sub/w.bin", offset="0", length="8").tobytes() == b"89abcdef"


@pytest.mark.parametrize(
    "location",
    [
        "../secret",
        "sub/../../secret",
        "/etc/passwd",
        "",
        ".",
        "./w.bin",
        "sub//w.bin",
        "w.bin/",
        "a\0b",
        "sub/..",
        "missing",
        "sub",
    ],
)
def test_other_places_are_refused(folder: Path, location: str) -> None:
    with pytest.raises(ModelError) as caught:
        _read(folder, location)
    assert caught.value.thing is not None
    assert "below" in (caught.value.hint or "")


def test_links_are_refused(folder: Path) -> None:
    (folder / "soft").symlink_to(folder.parent / "secret")
    (folder / "inner").symlink_to(folder / "w.bin")
    (folder / "dir").symlink_to(folder.parent)
    os.link(folder.parent / "secret", folder / "hard")
    for location in ("soft", "inner", "dir/secret", "hard"):
        with pytest.raises(ModelError):
            _read(folder, location)


def test_special_files_are_refused_without_waiting(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(ModelError, match="not a regular file"):
        _read(folder, "pipe")


@pytest.mark.parametrize(
    "entries",
    [
        {"offset": "1"},
        {"offset": "9"},
        {"offset": str(2**63)},
        {"length": "4"},
        {"length": "9"},
        {"offset": "-1"},
        {"offset": "1e3"},
    ],
    ids=str,
)
def test_ranges_outside_the_file_or_of_another_size_are_refused(folder: Path, entries: dict[str, str]) -> None:
    with pytest.raises(ModelError):
        _read(folder, "w.bin", **entries)


def test_a_model_with_external_weights_imports_and_its_hash_covers_them(tmp_path: Path) -> None:
    model = make_model([one_node("MatMul", ["x", "w"])], constants={"w": WEIGHTS})
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    imported = import_onnx(path)
    [node] = imported.graph.nodes
    np.testing.assert_array_equal(node.inputs[1].constant, WEIGHTS)  # type: ignore[union-attr]
    data = bytearray((tmp_path / "weights.bin").read_bytes())
    data[5] ^= 1
    (tmp_path / "weights.bin").write_bytes(data)
    assert import_onnx(path).sha256 != imported.sha256


def test_missing_and_cut_weights_name_the_tensor_and_the_file(tmp_path: Path) -> None:
    model = make_model([one_node("MatMul", ["x", "w"])], constants={"w": WEIGHTS})
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path), save_as_external_data=True, location="weights.bin", size_threshold=0)
    weights = tmp_path / "weights.bin"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(CuvilError, match=r"initializer w \(weights.bin\)"):
        import_onnx(path)
    weights.unlink()
    with pytest.raises(CuvilError, match=r"initializer w \(weights.bin\)"):
        import_onnx(path)
