"""Models at the edge of what is allowed, and beyond: each compiles and runs, or is refused in words.

``WORKS`` must run and answer as the specification says; ``REFUSED`` must not be compiled; of ``EITHER`` it is only
asked that nothing else happens: no other exception, no hang, no memory without bound, no wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

_node = helper.make_node
_HUGE = 2**40
_INF = float("inf")


def _floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def _integers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def _input(name: str, shape: Sequence[int | str], dtype: int = TensorProto.FLOAT) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def _model(
    nodes: Sequence[NodeProto],
    inputs: Sequence[ValueInfoProto] | None = None,
    outputs: Sequence[str] = ("y",),
    **constants: np.ndarray,
) -> ModelProto:
    graph = helper.make_graph(
        nodes,
        "odd",
        [_input("x", [2, 3])] if inputs is None else inputs,
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _chain(op_type: str, count: int, copies: int = 1) -> ModelProto:
    """``count`` nodes in a row, each reading the one before ``copies`` times."""
    names = ["x", *(f"v{index}" for index in range(count - 1)), "y"]
    return _model([_node(op_type, [names[i]] * copies, [names[i + 1]]) for i in range(count)])


def _turns(count: int) -> ModelProto:
    """Transpositions that cannot be merged with what is between them."""
    nodes: list[NodeProto] = []
    for index in range(count):
        source = f"v{index - 1}" if index else "x"
        nodes.append(_node("Add", [source, "w"], [f"u{index}"]))
        nodes.append(_node("Transpose", [f"u{index}"], [f"v{index}"], perm=[1, 0]))
    weights = np.arange(9, dtype=np.float32).reshape(3, 3)
    return _model(nodes, [_input("x", [3, 3])], [f"v{count - 1}"], w=weights)


def _typed(op_type: str, dtype: int, constant: np.ndarray) -> ModelProto:
    return _model([_node(op_type, ["x", "w"], ["y"])], [_input("x", [3], dtype)], w=constant)


def _empty(nodes: Sequence[NodeProto]) -> ModelProto:
    """``nodes`` read ``s``, which has the shape [0, 3]."""
    return _model([_node("Slice", ["x", "one", "one"], ["s"]), *nodes], one=_integers(1))


def _conv(x: Sequence[int | str], w: Sequence[int], **attributes: object) -> ModelProto:
    weights = np.linspace(-1, 1, int(np.prod(w)), dtype=np.float32).reshape(w)
    return _model([_node("Conv", ["x", "w"], ["y"], **attributes)], [_input("x", x)], w=weights)


def _renamed(value_in: str, value_out: str, symbol: str, node: str) -> ModelProto:
    return _model([_node("Exp", [value_in], [value_out], name=node)], [_input(value_in, [symbol, 3])], [value_out])


def _graph_name(name: str) -> ModelProto:
    model = _model([_node("Exp", ["x"], ["y"])])
    model.graph.name = name
    return model


def _many_inputs(symbols: bool) -> ModelProto:
    inputs = [_input(f"x{i}", [f"N{i}" if symbols else i % 3 + 1, 2]) for i in range(60 if symbols else 400)]
    return _model([_node("Concat", [value.name for value in inputs], ["y"], axis=0)], inputs)


def _nested_choice() -> ModelProto:
    """An If within an If within an If, all of whose conditions are constant."""
    empty = helper.make_empty_tensor_value_info
    body = helper.make_graph([_node("Exp", ["x"], ["y"])], "leaf", [], [empty("y")])
    other = helper.make_graph([_node("Neg", ["x"], ["y"])], "other", [], [empty("y")])
    for _ in range(20):
        node = _node("If", ["c"], ["y"], then_branch=body, else_branch=other)
        body = helper.make_graph([node], "level", [], [empty("y")])
    return _model(list(body.node), c=np.array(True))


def _truncated_weights() -> ModelProto:
    model = _model([_node("Add", ["x", "w"], ["y"])], w=_floats(1, 2, 3))
    model.graph.initializer[0].raw_data = model.graph.initializer[0].raw_data[:-1]
    return model


WORKS: dict[str, Callable[[], ModelProto]] = {
    "an output is an input": lambda: _model([_node("Exp", ["x"], ["y"])], outputs=["x", "y"]),
    "no nodes": lambda: _model([], outputs=["x"]),
    "an output is a constant": lambda: _model([_node("Exp", ["x"], ["y"])], outputs=["w", "y"], w=_floats(1, 2, 3)),
    "only a constant": lambda: _model([], outputs=["w"], w=_floats(1, 2, 3)),
    "nothing but a view": lambda: _model([_node("Reshape", ["x", "s"], ["y"])], s=_integers(3, 2)),
    "views of an input and itself": lambda: _model(
        [_node("Identity", ["x"], ["y"]), _node("Reshape", ["x", "s"], ["z"])], outputs=["y", "z", "x"], s=_integers(-1)
    ),
    "two outputs are one value": lambda: _model(
        [_node("Exp", ["x"], ["t"]), _node("Identity", ["t"], ["y"]), _node("Identity", ["t"], ["z"])],
        outputs=["y", "z", "t"],
    ),
    "a view of a result that goes on": lambda: _model(
        [_node("Exp", ["x"], ["t"]), _node("Flatten", ["t"], ["y"], axis=0), _node("Neg", ["t"], ["z"])],
        outputs=["y", "z"],
    ),
    "an unused input": lambda: _model([_node("Exp", ["x"], ["y"])], [_input("x", [2, 3]), _input("u", ["K", 3])]),
    "no inputs": lambda: _model([_node("Exp", ["w"], ["y"])], [], w=_floats(1, -2)),
    "one operand twice": lambda: _model([_node("Sub", ["x", "x"], ["y"])]),
    "rank 0": lambda: _model([_node("Exp", ["x"], ["y"])], [_input("x", [])]),
    "rank 8": lambda: _model([_node("Transpose", ["x"], ["y"], perm=[7, 1, 5, 4, 3, 2, 6, 0])], [_input("x", [2] * 8)]),
    "an empty slice": lambda: _empty([_node("Exp", ["s"], ["y"])]),
    "a sum of nothing": lambda: _empty([_node("ReduceSum", ["s"], ["y"], keepdims=0)]),
    "softmax over nothing": lambda: _empty([_node("Softmax", ["s"], ["y"], axis=0)]),
    "a product over nothing": lambda: _model(
        [_node("Slice", ["x", "one", "one", "one"], ["s"]), _node("MatMul", ["s", "w"], ["y"])],
        one=_integers(1),
        w=np.zeros((0, 4), np.float32),
    ),
    "a stack of no matrices": lambda: _model([_node("MatMul", ["x", "w"], ["y"])], w=np.zeros((0, 3, 4), np.float32)),
    "constants that are no numbers": lambda: _model(
        [
            _node("Add", ["x", "w"], ["a"]),
            _node("Clip", ["a", "low", "high"], ["b"]),
            _node("LeakyRelu", ["b"], ["y"], alpha=_INF),
        ],
        w=_floats(np.nan, np.inf, -np.inf),
        low=np.array(-_INF, np.float32),
        high=np.array(_INF, np.float32),
    ),
    "scalars that are no numbers": lambda: _model(
        [_node("Mul", ["x", "w"], ["a"]), _node("Max", ["a", "q"], ["b"]), _node("Add", ["b", "d"], ["y"])],
        w=_floats(np.inf),
        q=_floats(-np.inf),
        d=_floats(1e-45),
    ),
    "the limits of int64": lambda: _model(
        [_node("Add", ["x", "w"], ["a"]), _node("Max", ["a", "v"], ["y"])],
        [_input("x", [3], TensorProto.INT64)],
        w=_integers(-(2**63)),
        v=_integers(-(2**63) + 50),
    ),
    "the limit of uint64": lambda: _typed("Add", TensorProto.UINT64, np.array([2**64 - 1], np.uint64)),
    "the limit of int8": lambda: _typed("Add", TensorProto.INT8, np.array([-128], np.int8)),
    "names that end strings and comments": lambda: _renamed('a"b\\n\n*/', '"); int z; ("', 'N"\\*/', 'n"\\??/\n*/\\'),
    "names of all the world": lambda: _renamed("輸入\U0001f600", "é\u202e\u0301", "Ñ", "узел"),
    "names longer than a page": lambda: _renamed("x" * 50_000, "y" * 50_000, "N" * 150, "n" * 50_000),
    "names that are expressions": lambda: _model(
        [_node("Concat", ["x", "z"], ["y"], axis=0)], [_input("x", ["max(N,2)", 3]), _input("z", ["N*2", 3])]
    ),
    "a graph's name that is a path": lambda: _graph_name('../../etc/passwd\n"'),
    "a thousand functions in a row": lambda: _chain("Sigmoid", 1000),
    "sums that double sixty times": lambda: _chain("Mul", 60, copies=2),
    "a hundred transpositions": lambda: _turns(100),
    "four hundred inputs": lambda: _many_inputs(symbols=False),
    "sixty symbols": lambda: _many_inputs(symbols=True),
    "a sum of five hundred inputs": lambda: _model(
        [_node("Sum", [f"x{i}" for i in range(500)], ["y"])], [_input(f"x{i}", [4]) for i in range(500)]
    ),
    "a choice in twenty levels": _nested_choice,
    "one operand two thousand times": lambda: _model([_node("Concat", ["x"] * 2000, ["y"], axis=0)]),
    "three hundred outputs": lambda: _model(
        [_node("Split", ["x", "s"], [f"y{i}" for i in range(300)])],
        [_input("x", [300])],
        [f"y{i}" for i in range(300)],
        s=np.ones(300, np.int64),
    ),
    "negative padding": lambda: _model(
        [_node("Pad", ["x", "p"], ["y"])], [_input("x", [4, 5])], p=_integers(-1, 2, 0, -1)
    ),
    "two symbols and a fixed product": lambda: _model(
        [_node("Reshape", ["x", "s"], ["y"])], [_input("x", ["N", "M"])], s=_integers(4, -1)
    ),
    "indices for one row": lambda: _model(
        [_node("Gather", ["w", "x"], ["y"])], [_input("x", ["N"], TensorProto.INT64)], w=np.ones((3, 2), np.float32)
    ),
}

REFUSED: dict[str, Callable[[], ModelProto]] = {
    "no outputs": lambda: _model([_node("Exp", ["x"], ["y"])], outputs=[]),
    "one output twice": lambda: _model([_node("Exp", ["x"], ["y"])], outputs=["y", "y"]),
    "an output that nothing makes": lambda: _model([_node("Exp", ["x"], ["y"])], outputs=["z"]),
    "an input twice": lambda: _model([_node("Exp", ["x"], ["y"])], [_input("x", [1]), _input("x", [2])]),
    "a negative extent": lambda: _model([_node("Exp", ["x"], ["y"])], [_input("x", [-7])]),
    "a circle": lambda: _model([_node("Add", ["x", "b"], ["a"]), _node("Exp", ["a"], ["b"])], outputs=["b"]),
    "one value from two nodes": lambda: _model([_node("Exp", ["x"], ["y"]), _node("Neg", ["x"], ["y"])]),
    "an unknown operator": lambda: _model([_node("Frobnicate", ["x"], ["y"])]),
    "an operator of another domain": lambda: _model([_node("FusedConv", ["x"], ["y"], domain="com.microsoft")]),
    "a recurrent operator": lambda: _model([_node("SequenceConstruct", ["x"], ["y"])]),
    "a NUL in every name": lambda: _renamed("a\0b", "c\0d", "N", "e\0f"),
    "weights with too few bytes": _truncated_weights,
    "no groups": lambda: _conv([1, 1, 6, 6], [1, 1, 2, 2], group=0),
    "no step": lambda: _conv([1, 1, 6, 6], [1, 1, 2, 2], strides=[0, 0]),
    "channels that do not fit": lambda: _conv([1, 5, 6, 6], [1, 1, 2, 2]),
    "a window larger than its image": lambda: _conv([1, 1, 2, 2], [1, 1, 5, 5]),
    "an input of four terabytes": lambda: _model([_node("Exp", ["x"], ["y"])], [_input("x", [_HUGE])]),
    "an input of exabytes": lambda: _model([_node("Exp", ["x"], ["y"])], [_input("x", [2**59])]),
    "a fill of terabytes": lambda: _model([_node("ConstantOfShape", ["s"], ["y"])], s=_integers(_HUGE)),
    "a tile of terabytes": lambda: _model([_node("Tile", ["x", "s"], ["y"])], [_input("x", [1])], s=_integers(_HUGE)),
    "an expansion of terabytes": lambda: _model(
        [_node("Expand", ["x", "s"], ["y"])], [_input("x", ["N", 1])], s=_integers(1, _HUGE)
    ),
    "a product of terabytes": lambda: _model(
        [_node("MatMul", ["x", "z"], ["y"])], [_input("x", [2**20, 1]), _input("z", [1, 2**20])]
    ),
    "padding of terabytes": lambda: _model(
        [_node("Pad", ["x", "s"], ["y"])], [_input("x", [4])], s=_integers(_HUGE, 0)
    ),
    "an image of terabytes": lambda: _model(
        [_node("Resize", ["x", "", "s"], ["y"])], [_input("x", [1, 1, 4, 4])], s=_floats(1, 1, 2**18, 2**18)
    ),
    "a range of gigabytes": lambda: _model(
        [_node("Range", ["a", "b", "c"], ["y"])], a=np.array(0), b=np.array(2**33), c=np.array(1)
    ),
    "one-hot rows of gigabytes": lambda: _model(
        [_node("OneHot", ["x", "d", "v"], ["y"])],
        [_input("x", [4], TensorProto.INT64)],
        d=np.array(2**36),
        v=_floats(0, 1),
    ),
    "padding around a window of terabytes": lambda: _conv([1, 3, 4, 4], [1, 3, 1, 1], pads=[2**30] * 4),
}

EITHER: dict[str, Callable[[], ModelProto]] = {
    "no output channels": lambda: _conv([1, 3, 4, 4], [0, 3, 1, 1]),
    "rows of an empty table": lambda: _model(
        [_node("Gather", ["w", "x"], ["y"])], [_input("x", ["N"], TensorProto.INT64)], w=np.ones((0, 2), np.float32)
    ),
    "the largest of nothing": lambda: _empty([_node("ReduceMax", ["s"], ["y"], keepdims=0)]),
    "a division by zero": lambda: _typed("Div", TensorProto.INT32, np.array([0, 7, -1], np.int32)),
    "a remainder by zero": lambda: _typed("Mod", TensorProto.INT32, np.array([0, 7, -1], np.int32)),
    "a division of constants by zero": lambda: _model(
        [_node("Div", ["v", "w"], ["a"]), _node("Add", ["x", "a"], ["y"])],
        [_input("x", [3], TensorProto.INT32)],
        v=np.array([1, 2, -(2**31)], np.int32),
        w=np.array([0, 0, -1], np.int32),
    ),
    "rank 20": lambda: _model([_node("Exp", ["x"], ["y"])], [_input("x", [1] * 20)]),
    "rank 20 turned": lambda: _model(
        [_node("Transpose", ["x"], ["y"], perm=list(range(19, -1, -1)))], [_input("x", [1, 2] * 5 + [1] * 10)]
    ),
    "rank 20 summed": lambda: _model(
        [_node("ReduceSum", ["x", "a"], ["y"])], [_input("x", [2, 1] * 5 + [1] * 10)], a=_integers(0, 3, 5, 7)
    ),
    "a window with holes of gigabytes": lambda: _conv(
        [1, 1, 4, 4], [1, 1, 2, 2], dilations=[2**31, 2**31], pads=[2**31] * 4
    ),
    "negative padding of a window": lambda: _conv([1, 1, 6, 6], [1, 1, 2, 2], pads=[-1, -1, -1, -1]),
    "three spatial axes": lambda: _conv([1, 1, 4, 4, 4], [1, 1, 2, 2, 2]),
    "double precision": lambda: _model([_node("Exp", ["x"], ["y"])], [_input("x", [3], TensorProto.DOUBLE)]),
    "half precision": lambda: _model([_node("Exp", ["x"], ["y"])], [_input("x", [3], TensorProto.FLOAT16)]),
    "an extent of zero": lambda: _model([_node("Exp", ["x"], ["y"])], [_input("x", [2, 0])]),
    "no name": lambda: _renamed("x", "y", " ", ""),
}
