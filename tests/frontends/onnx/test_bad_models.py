"""Damaged, hostile and foreign files: one sentence that helps, never a traceback, never a hang."""

from __future__ import annotations

import os
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

from cuvil_edge.errors import CuvilError, ModelError, UnsupportedError
from cuvil_edge.frontends.onnx import import_onnx, scope
from tests.frontends.onnx.onnx_models import make_model, one_node, subgraph, tensor_info

CONV = make_model(
    [
        one_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("GlobalAveragePool", ["b"], ["c"]),
        helper.make_node("Flatten", ["c"], ["y"]),
    ],
    [tensor_info("x", ["N", 3, 8, 8])],
    constants={"w": np.ones((4, 3, 3, 3), np.float32)},
)


def test_a_model_cut_anywhere_is_one_error(tmp_path: Path) -> None:
    data = CONV.SerializeToString()
    path = tmp_path / "cut.onnx"
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(CuvilError) as caught:
            import_onnx(path)
        assert len(str(caught.value)) < 2000


def test_a_model_with_any_byte_changed_is_a_model_or_one_error() -> None:
    data = CONV.SerializeToString()
    random = np.random.default_rng(0)
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= int(random.integers(1, 256))
        with suppress(CuvilError):
            import_onnx(bytes(changed))


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_are_one_error(seed: int) -> None:
    with pytest.raises(ModelError):
        import_onnx(np.random.default_rng(seed).bytes(1 + 97 * seed))


def test_an_empty_file_and_an_empty_model(tmp_path: Path) -> None:
    path = tmp_path / "empty.onnx"
    path.write_bytes(b"")
    with pytest.raises(ModelError, match=r"empty.onnx: is empty"):
        import_onnx(path)
    with pytest.raises(CuvilError):
        import_onnx(ModelProto())


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps([1]))


FOREIGN = {
    "PyTorch": b"",
    "TensorFlow Lite": b"\x1c\0\0\0TFL3" + bytes(100),
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(100),
    "HTML": b"<!DOCTYPE html><html>404</html>",
    "JSON": b'{"error": "not found"}',
    "safetensors": (10).to_bytes(8, "little") + b'{"a": {}} ' + bytes(20),
    "pickle": pickle.dumps({"a": [1, 2]}, protocol=4),
    "gzip": b"\x1f\x8b\x08" + bytes(50),
    "Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n",
    "GGUF": b"GGUF" + bytes(60),
    ".ort": b"\x20\0\0\0ORTM" + bytes(60),
    "PNG": b"\x89PNG\r\n\x1a\n" + bytes(60),
    "text form": b"ir_version: 8\ngraph {}\n",
    "text file": b"hello world, this is no model at all",
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_formats_are_recognised(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign.onnx"
    path.write_bytes(FOREIGN[kind])
    if kind == "PyTorch":
        _zip(path)
    with pytest.raises(ModelError) as caught:
        import_onnx(path)
    assert kind.lower() in str(caught.value).lower()


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.onnx"
    os.mkfifo(pipe)
    for path in (tmp_path / "missing.onnx", tmp_path, pipe, "a\0b.onnx"):
        with pytest.raises(ModelError) as caught:
            import_onnx(path)
        assert caught.value.thing


def test_a_circle_of_nodes_is_shown() -> None:
    nodes = [
        helper.make_node("Add", ["x", "c"], ["a"], name="one"),
        helper.make_node("Relu", ["a"], ["b"], name="two"),
        helper.make_node("Relu", ["b"], ["c"], name="three"),
        helper.make_node("Relu", ["c"], ["y"], name="behind"),
    ]
    with pytest.raises(
        ModelError, match=r"(?s)circle.*one -> two -> three -> one|two -> three -> one -> two|three -> one"
    ):
        import_onnx(make_model(nodes))


def test_a_node_that_reads_itself_is_a_circle() -> None:
    with pytest.raises(ModelError, match="circle"):
        import_onnx(make_model([one_node("Add", ["x", "y"])]))


def test_values_that_are_made_twice_are_named() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="a"), helper.make_node("Exp", ["x"], ["y"], name="b")]
    with pytest.raises(ModelError, match=r"node b: makes 'y', which node a makes too"):
        import_onnx(make_model(nodes))
    with pytest.raises(ModelError, match="an input or initializer makes too"):
        import_onnx(make_model([one_node("Relu", outputs=["x"])], outputs=["x"]))


def test_values_that_nothing_makes_are_named() -> None:
    with pytest.raises(ModelError, match="node node: reads 'nowhere', which nothing makes"):
        import_onnx(make_model([one_node("Relu", ["nowhere"])]))


def test_two_initializers_and_two_inputs_of_one_name() -> None:
    model = make_model([one_node("Add", ["x", "w"])], constants={"w": np.ones(3, np.float32)})
    model.graph.initializer.append(model.graph.initializer[0])
    with pytest.raises(ModelError, match="initializer w: two initializers have one name"):
        import_onnx(model)
    with pytest.raises(ModelError, match="input x: two inputs have one name"):
        import_onnx(make_model([one_node("Relu")], [tensor_info("x", [1]), tensor_info("x", [1])]))


HUGE = 2**62


@pytest.mark.parametrize(
    "model",
    [
        make_model([one_node("Relu")], [tensor_info("x", [HUGE, HUGE])]),
        make_model([one_node("Expand", ["x", "s"])], constants={"s": np.array([HUGE, 2, 3])}),
        make_model([one_node("ConstantOfShape", ["s"])], constants={"s": np.array([HUGE, HUGE])}),
        make_model([one_node("ConstantOfShape", ["s"])], constants={"s": np.array([-4])}),
        make_model([one_node("Tile", ["x", "s"])], constants={"s": np.array([HUGE, HUGE])}),
        make_model([one_node("Pad", ["x", "s"])], constants={"s": np.array([HUGE, 0, HUGE, 0])}),
        make_model(
            [one_node("Range", ["a", "b", "c"])],
            constants={n: np.array(v) for n, v in zip("abc", (0, HUGE, 1), strict=True)},
        ),
        make_model(
            [one_node("Range", ["a", "b", "c"])],
            constants={n: np.array(v) for n, v in zip("abc", (0, 5, 0), strict=True)},
        ),
        make_model([one_node("MaxPool", kernel_shape=[HUGE], strides=[HUGE])], [tensor_info("x", [1, 1, 8])]),
        make_model([one_node("MaxPool", kernel_shape=[2], strides=[0])], [tensor_info("x", [1, 1, 8])]),
        make_model(
            [one_node("AveragePool", kernel_shape=[2], dilations=[-1])], [tensor_info("x", [1, 1, 8])], opset=19
        ),
        make_model([one_node("Split", outputs=["y", "z"])], [tensor_info("x", [3])], ["y", "z"]),
        make_model([one_node("DepthToSpace", blocksize=0)], [tensor_info("x", [1, 4, 2, 2])]),
        make_model([one_node("Gather", ["x", "i"])], constants={"i": np.array([5])}),
        make_model([one_node("Concat", axis=9)]),
        make_model([one_node("Transpose", perm=[0, 0])]),
        make_model([one_node("Reshape", ["x", "s"])], constants={"s": np.array([-1, -1])}),
        make_model([one_node("Reshape", ["x", "s"])], constants={"s": np.array([4, -1])}),
        make_model([one_node("Reshape", ["x", "s"])], constants={"s": np.array([1.5], np.float32)}),
        make_model([one_node("Resize", ["x", "", "s"])], constants={"s": np.array([np.nan, 1], np.float32)}),
        make_model([one_node("Resize", ["x", "", "s"])], constants={"s": np.array([1e30, 1e30], np.float32)}),
        make_model([one_node("Conv", ["x"])], [tensor_info("x", [1, 1, 8, 8])]),
        make_model([one_node("Softmax", [""])]),
        make_model([one_node("Relu", ["x", "x"])]),
        make_model([one_node("Relu", alpha=3.0)]),
        make_model([one_node("Cast", to=TensorProto.STRING)]),
        make_model([one_node("Cast", to="f32")]),
        make_model([one_node("Constant", [], value_ints=[1], value_float=2.0)]),
        make_model([one_node("Constant", [])]),
        make_model([one_node("Clip", ["x", "m"])], constants={"m": np.ones(4, np.float32)}),
    ],
    ids=lambda model: f"{model.graph.node[0].op_type}",
)
def test_impossible_sizes_and_attributes_are_one_error(model: ModelProto) -> None:
    with pytest.raises(CuvilError) as caught:
        import_onnx(model)
    assert "Error" not in str(caught.value).split("\n")[0]
    assert caught.value.thing


def test_shapes_that_explode_are_refused() -> None:
    """Products of sums double their terms with every node."""
    nodes, value = [], "x"
    for index in range(40):
        nodes.append(helper.make_node("Concat", [value, value], [f"c{index}"], axis=0))
        nodes.append(helper.make_node("Pad", [f"c{index}", "p"], [f"d{index}"]))
        nodes.append(helper.make_node("Flatten", [f"d{index}"], [f"e{index}"], axis=2))
        nodes.append(helper.make_node("Unsqueeze", [f"e{index}", "axes"], [f"f{index}"]))
        nodes.append(helper.make_node("Tile", [f"f{index}", "t"], [f"g{index}"]))
        nodes.append(helper.make_node("Reshape", [f"g{index}", "r"], [f"h{index}"]))
        value = f"h{index}"
    constants = {"p": np.array([1, 1, 1, 1]), "axes": np.array([0]), "t": np.array([1, 3, 5]), "r": np.array([-1, 2])}
    model = make_model(nodes, [tensor_info("x", ["A", "B"])], [value], constants)
    with pytest.raises(CuvilError):
        import_onnx(model)


def test_functions_that_call_themselves_or_multiply_are_refused() -> None:
    forever = helper.make_function(
        "own",
        "Forever",
        ["a"],
        ["b"],
        [helper.make_node("Forever", ["a"], ["b"], domain="own")],
        [helper.make_opsetid("own", 1)],
    )
    with pytest.raises(ModelError, match="deep"):
        import_onnx(
            make_model([helper.make_node("Forever", ["x"], ["y"], domain="own")], domains=["own"], functions=[forever])
        )


def test_a_billion_nodes_from_a_few_functions_are_refused_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope, "_MAX_NODES", 5000)
    functions = []
    for level in range(12):
        inner = "Relu" if level == 0 else f"F{level - 1}"
        domain = "" if level == 0 else "own"
        nodes = [helper.make_node(inner, [f"v{i}" if i else "a"], [f"v{i + 1}"], domain=domain) for i in range(9)]
        nodes[-1].output[0] = "b"
        opsets = [helper.make_opsetid("own", 1), helper.make_opsetid("", 17)]
        functions.append(helper.make_function("own", f"F{level}", ["a"], ["b"], nodes, opsets))
    model = make_model([helper.make_node("F11", ["x"], ["y"], domain="own")], domains=["own"], functions=functions)
    with pytest.raises(ModelError, match="nodes once its functions are inlined"):
        import_onnx(model)


def test_nested_branches_are_followed() -> None:
    graph = subgraph([helper.make_node("Relu", ["x"], ["y"])], ["y"])
    other = subgraph([helper.make_node("Exp", ["x"], ["y"])], ["y"])
    for _ in range(15):
        graph = subgraph([helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=other)], ["y"])
    model = make_model(list(graph.node), constants={"c": np.array(True)})
    assert [node.op.name for node in import_onnx(model).graph.nodes] == ["relu"]


def test_control_flow_that_depends_on_data_is_named() -> None:
    branch = subgraph([helper.make_node("Relu", ["x"], ["y"])], ["y"])
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
        helper.make_node("Cast", ["m"], ["c"], to=TensorProto.BOOL),
        helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branch, else_branch=branch),
    ]
    with pytest.raises(UnsupportedError, match=r"node choice \(If\): the condition is computed while the model runs"):
        import_onnx(make_model(nodes))
