"""Reading model files: names, hashes, and what a file looks like if it is none."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from cuvil_edge.errors import ModelError
from cuvil_edge.frontends.onnx.model_file import looks_like, read_model
from tests.frontends.onnx.onnx_models import make_model, one_node

MODEL = make_model([one_node("Relu")])


def test_the_name_is_that_of_the_file_or_of_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "my.model.onnx"
    path.write_bytes(MODEL.SerializeToString())
    assert read_model(path).name == "my.model"
    assert read_model(MODEL.SerializeToString()).name == "test"
    MODEL.graph.name = ""
    assert read_model(MODEL).name == "model"


def test_the_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    data = MODEL.SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    assert read_model(path).sha256 == read_model(memoryview(data)).sha256 == hashlib.sha256(data).hexdigest()


def test_only_a_path_has_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(MODEL.SerializeToString())
    assert read_model(path).folder is not None
    assert read_model(path.read_bytes()).folder is None


def test_unknown_bytes_are_called_that() -> None:
    assert looks_like(bytes(range(200, 256))) == "bytes of no known format"
    assert looks_like(b"<?xml version='1.0'?>") == "an XML file"


def test_a_name_that_is_not_text_is_refused() -> None:
    data = MODEL.SerializeToString().replace(b"Relu", b"\xff\xfe\xfd\xfc")
    with pytest.raises(ModelError, match=r"not text|not an ONNX model"):
        read_model(data)
