"""Risk: the quickstart's picture or decoding is wrong, and a right model seems to answer nonsense."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from onnx import TensorProto, helper

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "ocr_line.py"


@pytest.fixture(scope="module")
def ocr_line() -> ModuleType:
    spec = importlib.util.spec_from_file_location("ocr_line", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def one_hot(classes: list[int], count: int = 4) -> np.ndarray:
    scores = np.full((1, len(classes), count), 0.01, np.float32)
    scores[0, np.arange(len(classes)), classes] = 0.9
    return scores


def test_repeats_merge_and_blanks_separate(ocr_line):
    text, sure = ocr_line.decode(one_hot([0, 1, 1, 0, 1, 2, 2, 3, 0]), ["", "a", "b", " "])
    assert text == "aab "
    assert sure == pytest.approx(0.9)


def test_nothing_but_blanks(ocr_line):
    assert ocr_line.decode(one_hot([0, 0]), ["", "a", "b", " "]) == ("", 0.0)


def test_alphabet_is_in_the_model(ocr_line, tmp_path):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    model = helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y]))
    entry = model.metadata_props.add()
    entry.key, entry.value = "character", "a\nb\n"
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert ocr_line.alphabet(tmp_path / "m.onnx") == ["", "a", "b", " "]


def test_picture_becomes_what_the_model_wants(ocr_line, tmp_path):
    image = pytest.importorskip("PIL.Image")
    picture = image.new("RGB", (200, 96), (255, 0, 0))
    picture.save(tmp_path / "red.png")
    line = ocr_line.prepare(tmp_path / "red.png")
    assert line.shape == (1, 3, 48, 320)
    assert line.dtype == np.float32
    np.testing.assert_array_equal(line[0, :, 5, 50], [-1, -1, 1])  # BGR
    np.testing.assert_array_equal(line[0, :, 5, 150], [0, 0, 0])


def test_drawn_line_has_ink(ocr_line, tmp_path):
    pytest.importorskip("PIL.ImageFont")
    ocr_line.draw("words", tmp_path / "line.png")
    line = ocr_line.prepare(tmp_path / "line.png")
    assert line.min() < -0.5 < 0.5 < line.max()


def test_command_line(ocr_line, tmp_path, capsys, monkeypatch):
    np.save(tmp_path / "scores.npy", one_hot([1, 0, 2]))
    monkeypatch.setattr(ocr_line, "alphabet", lambda model: ["", "a", "b", " "])
    assert ocr_line.main(["read", str(tmp_path / "scores.npy"), "m.onnx"]) == 0
    assert capsys.readouterr().out == '"ab" (90.0 % sure)\n'
