"""``check``: what a model takes, and a sentence for every kind of model that cannot be compiled."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.models import chain_model

BOARD = ("--board", "raspberry-pi-4")


def save(path: Path, model: onnx.ModelProto) -> Path:
    path.write_bytes(model.SerializeToString())
    return path


def one_node(node: onnx.NodeProto, shape: list[int | str], *, opset: int = 17) -> onnx.ModelProto:
    """A model of one node that reads x and writes y."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "one", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    return save(tmp_path / "chain.onnx", chain_model())


def test_summary(cli, chain):
    outcome = cli("check", chain, *BOARD)
    assert outcome.status == 0
    assert outcome.out.startswith("chain can be compiled for raspberry-pi-4")
    for words in ("inputs", "x  f32  N x 5 x M", "N: 1 or more", "of the model (opset 17)", "kernels"):
        assert words in outcome.out
    assert outcome.err == ""


def test_summary_as_json(cli, chain):
    result = cli("check", chain, *BOARD, "--json").json
    assert result["inputs"] == [{"name": "x", "dtype": "f32", "shape": ["N", 5, "M"]}]
    assert [symbol["name"] for symbol in result["symbols"]] == ["N", "M"]
    assert result["layers"] >= 3
    assert result["parameters"] == 5
    assert result["fits"] is True
    assert result["arena_bytes"] >= result["arena_lower_bound_bytes"] > 0
    assert sum(result["kernels"].values()) == result["steps"]


def test_dimensions_are_fixed_and_bounded(cli, chain):
    result = cli("check", chain, *BOARD, "--dim", "N=4", "--dim", "M=32..1024:32", "--json").json
    assert result["inputs"][0]["shape"] == [4, 5, "M"]
    assert result["symbols"] == [{"name": "M", "min": 32, "max": 1024, "multiple_of": 32}]


def test_details_name_layers_and_kernels(cli, chain):
    quiet, loud = cli("check", chain, *BOARD).out, cli("check", chain, *BOARD, "--verbose").out
    assert len(loud) > len(quiet)
    assert "add + relu" in loud


def test_every_unsupported_operator_is_named_at_once(cli, tmp_path):
    nodes = [
        helper.make_node("NoSuchThing", ["x"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="fine"),
        helper.make_node("NeitherThis", ["b"], ["y"], name="second", domain="com.example"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]), opset_imports=opsets, ir_version=8)
    outcome = cli("check", save(tmp_path / "m.onnx", model), *BOARD)
    assert outcome.status == 1
    assert "first" in outcome.err
    assert "second" in outcome.err
    assert "NeitherThis" in outcome.err


@pytest.mark.parametrize("size", [0, 1, 20, 100])
def test_truncated_model(cli, tmp_path, size):
    (tmp_path / "m.onnx").write_bytes(chain_model().SerializeToString()[:size])
    outcome = cli("check", tmp_path / "m.onnx", "--json")
    assert outcome.status == 1
    assert outcome.error["kind"] in ("model", "unsupported")
    assert "m.onnx" in str(outcome.error)


@pytest.mark.parametrize("seed", range(5))
def test_random_bytes(cli, tmp_path, seed):
    (tmp_path / "m.onnx").write_bytes(random.Random(seed).randbytes(2000))
    outcome = cli("check", tmp_path / "m.onnx", "--json")
    assert outcome.status == 1
    assert outcome.error["kind"] == "model"


@pytest.mark.parametrize(
    "content",
    [
        b"#!/bin/sh\necho hello\n",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"TFL3" + bytes(100),
        b"\x1c\x00\x00\x00TFL3",
        b"{}",
    ],
)
def test_file_of_another_format(cli, tmp_path, content):
    (tmp_path / "m.onnx").write_bytes(content)
    outcome = cli("check", tmp_path / "m.onnx", "--json")
    assert outcome.status == 1
    assert outcome.error["kind"] in ("model", "unsupported")


def test_missing_file_and_folder(cli, tmp_path):
    for path in (tmp_path / "none.onnx", tmp_path):
        assert cli("check", path).status == 2


def test_artifact_in_the_place_of_a_model(cli, tmp_path):
    (tmp_path / "m.cuvil").write_bytes(b"PK\x03\x04")
    assert "compiled model already" in cli("check", tmp_path / "m.cuvil", "--json").error["what"]


def test_cycle(cli, tmp_path):
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="one"),
        helper.make_node("Relu", ["a"], ["b"], name="two"),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    b = helper.make_tensor_value_info("b", TensorProto.FLOAT, [1])
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [b]), ir_version=8)
    outcome = cli("check", save(tmp_path / "m.onnx", model), "--json")
    assert outcome.error["kind"] == "model"


def test_huge_dimension(cli, tmp_path):
    model = one_node(helper.make_node("Relu", ["x"], ["y"], name="relu"), [2**40, 2**40])
    outcome = cli("check", save(tmp_path / "m.onnx", model), "--json")
    assert outcome.status == 1
    assert outcome.error["kind"] in ("shape", "model", "unsupported")


def test_shapes_that_contradict(cli, tmp_path):
    node = helper.make_node("Transpose", ["x"], ["y"], name="turn", perm=[0, 1, 2])
    outcome = cli("check", save(tmp_path / "m.onnx", one_node(node, [2, 3])), "--json")
    assert outcome.status == 1
    assert "turn" in str(outcome.error)


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "link", "missing"])
def test_external_data_outside_of_the_folder(cli, tmp_path, location):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(20))
    (folder / "link").symlink_to(tmp_path / "secret")
    model = chain_model()
    bias = model.graph.initializer[0]
    bias.ClearField("raw_data")
    bias.data_location = TensorProto.EXTERNAL
    entry = bias.external_data.add()
    entry.key, entry.value = "location", location
    outcome = cli("check", save(folder / "m.onnx", model), "--json")
    assert outcome.status == 1
    assert outcome.error["kind"] == "model"


def test_unknown_dimension_names_those_that_exist(cli, chain):
    error = cli("check", chain, "--dim", "Q=1", "--json").error
    assert "N" in str(error)


def test_isa_that_the_board_lacks(cli, chain):
    error = cli("check", chain, *BOARD, "--isa", "arm64_neondot", "--json").error
    assert error["kind"] == "incompatible"
    assert "asimddp" in str(error)


def test_model_that_is_too_large_for_the_board(cli, tmp_path):
    weights = numpy_helper.from_array(np.zeros((1,), np.float32), "w")
    node = helper.make_node("Add", ["x", "w"], ["t"], name="add")
    last = helper.make_node("Softmax", ["t"], ["y"], name="softmax", axis=1)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [512, 1024, 1024])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [512, 1024, 1024])
    graph = helper.make_graph([node, last], "large", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    outcome = cli("check", save(tmp_path / "m.onnx", model), "--board", "raspberry-pi-zero-2-w")
    assert outcome.status == 0
    assert "warning: it needs" in outcome.out
