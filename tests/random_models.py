"""Random small ONNX models: chains and branches of many operators over shapes with two symbols.

An extent is the tuple of its values at each of ``BINDINGS``, so shapes need no algebra: an extent whose values are
equal is fixed, two extents are the same if all their values are. Operators are chosen so that a small error of an
operand is a small error of the result: nothing that jumps, nothing that divides by what may be close to zero.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

BINDINGS: tuple[dict[str, int], ...] = ({"N": 1, "H": 12}, {"N": 3, "H": 17}, {"N": 2, "H": 8})
"""The extents at which a model is run."""
MAX_ELEMENTS = 60_000

Extent = tuple[int, ...]
Shape = tuple[Extent, ...]

N: Extent = tuple(binding["N"] for binding in BINDINGS)
H: Extent = tuple(binding["H"] for binding in BINDINGS)


def fixed(number: int) -> Extent:
    """An extent that is the same everywhere."""
    return (number,) * len(BINDINGS)


def is_fixed(extent: Extent) -> bool:
    """Whether the model knows the extent as a number."""
    return len(set(extent)) == 1


@dataclass(frozen=True)
class Tensor:
    """A value of the model."""

    name: str
    shape: Shape

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def least(self) -> tuple[int, ...]:
        """The smallest value of each extent."""
        return tuple(min(extent) for extent in self.shape)


class RandomModel:
    """Draws a model from ``source``.

    Args:
        plain: leave out what the evaluator of the onnx package computes wrong, or not at all.
    """

    def __init__(self, source: random.Random, plain: bool = True) -> None:
        self.source = source
        self.plain = plain
        self.arrays = np.random.default_rng(source.randrange(2**32))
        self.nodes: list = []
        self.constants: dict[str, np.ndarray] = {}
        self.inputs: list[Tensor] = []
        self.values: list[Tensor] = []

    def build(self, count: int) -> ModelProto:
        """A model of about ``count`` operators, whose outputs are all values that nobody reads."""
        for _ in range(self.source.choice((1, 1, 2))):
            self._add_input()
        tries = 0
        while len(self.nodes) < count and tries < 20 * count:
            tries += 1
            # The newest values most of the time: chains are where fusions are.
            value = self.values[-1] if self.source.random() < 0.75 else self.source.choice(self.values)
            self.source.choice(_STEPS)(self, value)
        read = {name for node in self.nodes for name in node.input}
        outputs = [value for value in self.values if value.name not in read and value not in self.inputs]
        graph = helper.make_graph(
            self.nodes,
            "random",
            [self._info(value) for value in self.inputs],
            [helper.make_tensor_value_info(v.name, TensorProto.FLOAT, [None] * v.rank) for v in outputs],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def _add_input(self) -> None:
        channels, width = fixed(self.source.choice((1, 3, 4, 6, 8, 17))), fixed(self.source.choice((5, 8, 11)))
        shape = self.source.choice(
            (
                (N, channels, H, width),
                (N, channels, H, width),
                (N, channels, H, H),
                (N, channels, H),
                (N, H, channels),
                (N, channels),
                (channels, width),
            )
        )
        value = Tensor(f"x{len(self.inputs)}", shape)
        self.inputs.append(value)
        self.values.append(value)

    @staticmethod
    def _info(value: Tensor) -> object:
        dims = ["N" if extent == N else "H" if extent == H else extent[0] for extent in value.shape]
        return helper.make_tensor_value_info(value.name, TensorProto.FLOAT, dims)

    def constant(self, array: np.ndarray | Sequence[int]) -> str:
        """The name of a new constant; integers are int64."""
        array = np.asarray(array)
        name = f"c{len(self.constants)}"
        self.constants[name] = array.astype(np.float32 if array.dtype.kind == "f" else np.int64)
        return name

    def weights(self, *shape: int, scale: float = 1.0) -> str:
        """Random weights."""
        return self.constant(self.arrays.standard_normal(shape) * scale)

    def node(self, op_type: str, inputs: Sequence[str], shape: Shape, **attributes: object) -> Tensor | None:
        """Add a node with one output, unless that is empty or large."""
        if any(min(extent) < 1 for extent in shape) or len(shape) > 6:
            return None
        if max(prod(extent[i] for extent in shape) for i in range(len(BINDINGS))) > MAX_ELEMENTS:
            return None
        value = Tensor(f"v{len(self.values)}", tuple(shape))
        name = f"{op_type}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), [value.name], name=name, **attributes))
        self.values.append(value)
        return value


Step = Callable[[RandomModel, Tensor], object]
_STEPS: list[Step] = []


def _step(weight: int) -> Callable[[Step], Step]:
    def add(function: Step) -> Step:
        _STEPS.extend([function] * weight)
        return function

    return add


_FUNCTIONS = (
    *((name, {}) for name in ("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "HardSwish", "Softplus", "Erf", "Sin", "Cos")),
    *((name, {}) for name in ("Softsign", "Mish", "Gelu", "Selu", "Identity", "Atan")),
    ("Gelu", {"approximate": "tanh"}),
    ("LeakyRelu", {"alpha": 0.1}),
    ("Elu", {"alpha": 0.7}),
    ("Celu", {"alpha": 0.9}),
    ("HardSigmoid", {"alpha": 0.3}),
    ("ThresholdedRelu", {"alpha": 0.0}),
)


@_step(8)
def _function(model: RandomModel, x: Tensor) -> None:
    op_type, attributes = model.source.choice(_FUNCTIONS)
    model.node(op_type, [x.name], x.shape, **attributes)


@_step(2)
def _bounded(model: RandomModel, x: Tensor) -> None:
    low, high = model.constant(np.array(-1.5)), model.constant(np.array(2.0))
    clipped = model.node("Clip", [x.name, low, high], x.shape)
    if clipped is not None and model.source.random() < 0.5:
        model.node("Exp", [clipped.name], x.shape)


@_step(6)
def _with_constant(model: RandomModel, x: Tensor) -> None:
    """A constant that broadcasts along some axes, or is a scalar, or has more axes."""
    shape = [extent[0] if is_fixed(extent) and model.source.random() < 0.6 else 1 for extent in x.shape]
    while shape and shape[0] == 1 and model.source.random() < 0.5:
        shape.pop(0)
    op_type = model.source.choice(("Add", "Mul", "Sub", "Max", "Min", "Div", "PRelu"))
    array = model.arrays.standard_normal(shape)
    name = model.constant(np.abs(array) + 0.5 if op_type == "Div" else array)
    operands = [x.name, name]
    if op_type in ("Add", "Mul", "Sub") and model.source.random() < 0.3:
        operands.reverse()
    model.node(op_type, operands, x.shape)


@_step(4)
def _with_value(model: RandomModel, x: Tensor) -> None:
    """Another value, perhaps reduced so that it broadcasts."""
    y = model.source.choice(model.values)
    if x.rank != y.rank or any(b not in (a, fixed(1)) for a, b in zip(x.shape, y.shape, strict=True)):
        axes = sorted(model.source.sample(range(x.rank), model.source.randrange(1, x.rank + 1)))
        shape = tuple(fixed(1) if axis in axes else extent for axis, extent in enumerate(x.shape))
        reduced = model.node("ReduceMean", [x.name, model.constant(axes)], shape, keepdims=1)
        if reduced is None:
            return
        y = reduced
    op_type = model.source.choice(("Add", "Mul", "Sub", "Max", "Min", "Sum", "Mean"))
    model.node(op_type, [x.name, y.name], x.shape)


@_step(1)
def _choice(model: RandomModel, x: Tensor) -> None:
    """Where both choices meet at the border."""
    zero = model.constant(np.array(0.0))
    op_type = model.source.choice(("Greater", "LessOrEqual"))
    condition = f"b{len(model.nodes)}"
    model.nodes.append(helper.make_node(op_type, [x.name, zero], [condition]))
    model.node("Where", [condition, x.name, zero], x.shape)


def _window(model: RandomModel, axes: int) -> tuple[list[int], list[int], list[int], list[int]]:
    kernel = [model.source.choice((1, 2, 3, 3, 5)) for _ in range(axes)]
    strides = [model.source.choice((1, 1, 2, 3)) for _ in range(axes)]
    dilations = [model.source.choice((1, 1, 1, 2)) for _ in range(axes)]
    pads = [model.source.randrange(k // 2 + 1) for k in kernel * 2]
    return kernel, strides, dilations, pads


def _windows(shape: Shape, window: tuple[list[int], ...], ceil_mode: bool = False) -> list[Extent]:
    kernel, strides, dilations, pads = window
    found = []
    for axis, extent in enumerate(shape):
        space = [e + pads[axis] + pads[axis + len(kernel)] - dilations[axis] * (kernel[axis] - 1) - 1 for e in extent]
        if min(space) < 0:
            return [fixed(0)]
        outputs = [-(-s // strides[axis]) + 1 if ceil_mode else s // strides[axis] + 1 for s in space]
        if ceil_mode:  # a window must begin in the data or in the padding before it
            outputs = [o - ((o - 1) * strides[axis] >= e + pads[axis]) for o, e in zip(outputs, extent, strict=True)]
        found.append(tuple(outputs))
    return found


@_step(7)
def _conv(model: RandomModel, x: Tensor) -> None:
    if x.rank not in (3, 4) or not is_fixed(x.shape[1]):
        return
    channels, window = x.shape[1][0], _window(model, x.rank - 2)
    group = model.source.choice([g for g in (1, 1, 2, channels) if channels % g == 0])
    filters = group * model.source.choice((1, 1, 2, 3, 5)) if group > 1 else model.source.choice((1, 4, 5, 16, 19))
    outputs = _windows(x.shape[2:], window)
    if any(min(extent) < 1 for extent in outputs):
        return
    kernel, strides, dilations, pads = window
    scale = (channels // group * prod(kernel)) ** -0.5
    inputs = [x.name, model.weights(filters, channels // group, *kernel, scale=scale)]
    inputs += [model.weights(filters)] if model.source.random() < 0.6 else []
    y = model.node(
        "Conv",
        inputs,
        (x.shape[0], fixed(filters), *outputs),
        group=group,
        strides=strides,
        dilations=dilations,
        pads=pads,
    )
    if y is not None and model.source.random() < 0.3:
        _batch_normalization(model, y)


def _batch_normalization(model: RandomModel, x: Tensor) -> None:
    channels = x.shape[1][0]
    parts = [model.weights(channels) for _ in range(3)]
    variance = model.constant(model.arrays.uniform(0.5, 2.0, channels))
    model.node("BatchNormalization", [x.name, *parts, variance], x.shape)


@_step(2)
def _conv_transpose(model: RandomModel, x: Tensor) -> None:
    if x.rank not in (3, 4) or not is_fixed(x.shape[1]):
        return
    channels = x.shape[1][0]
    kernel, strides, dilations, pads = _window(model, x.rank - 2)
    group = model.source.choice([g for g in (1, 1, 2) if channels % g == 0 and not (model.plain and g > 1)])
    filters, half = model.source.choice((1, 3, 8)), len(kernel)
    extra = [model.source.randrange(s) if s > 1 and model.source.random() < 0.3 else 0 for s in strides]
    outputs = []
    for axis, extent in enumerate(x.shape[2:]):
        add = dilations[axis] * (kernel[axis] - 1) + 1 + extra[axis] - pads[axis] - pads[axis + half]
        outputs.append(tuple(strides[axis] * (e - 1) + add for e in extent))
    weights = model.weights(channels, filters, *kernel, scale=channels**-0.5)
    model.node(
        "ConvTranspose",
        [x.name, weights],
        (x.shape[0], fixed(filters * group), *outputs),
        group=group,
        strides=strides,
        dilations=dilations,
        pads=pads,
        output_padding=extra,
    )


@_step(4)
def _pool(model: RandomModel, x: Tensor) -> None:
    if x.rank not in (3, 4):
        return
    kernel, strides, dilations, pads = _window(model, x.rank - 2)
    op_type, ceil_mode = model.source.choice(("MaxPool", "AveragePool")), model.source.random() < 0.3
    if model.plain:
        op_type = op_type if x.rank == 4 else "AveragePool"
        ceil_mode, kernel, dilations, pads = False, kernel[:1] * len(kernel), [1] * len(kernel), pads[:1] * len(pads)
    outputs = _windows(x.shape[2:], (kernel, strides, dilations, pads), ceil_mode)
    attributes: dict[str, object] = {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads}
    attributes["ceil_mode"] = int(ceil_mode)
    if op_type == "AveragePool":
        attributes["count_include_pad"] = model.source.randrange(2)
    if all(min(extent) >= 1 for extent in outputs):
        model.node(op_type, [x.name], (*x.shape[:2], *outputs), **attributes)


@_step(1)
def _global_pool(model: RandomModel, x: Tensor) -> None:
    if x.rank in (3, 4):
        op_type = model.source.choice(("GlobalAveragePool", "GlobalMaxPool"))
        op_type = "GlobalAveragePool" if model.plain and x.rank == 3 else op_type
        model.node(op_type, [x.name], (*x.shape[:2], *(fixed(1),) * (x.rank - 2)))


@_step(4)
def _product(model: RandomModel, x: Tensor) -> None:
    if x.rank < 2 or not is_fixed(x.shape[-1]):
        return
    depth, columns = x.shape[-1][0], model.source.choice((1, 3, 8, 16, 33))
    weights = model.weights(depth, columns, scale=depth**-0.5)
    shape = (*x.shape[:-1], fixed(columns))
    if x.rank == 2 and model.source.random() < 0.5:
        bias = [model.weights(columns)] if model.source.random() < 0.7 else []
        model.node("Gemm", [x.name, weights, *bias], shape, alpha=0.5, beta=1.5)
    else:
        model.node("MatMul", [x.name, weights], shape)


@_step(2)
def _self_product(model: RandomModel, x: Tensor) -> None:
    """As in attention: a value times itself, transposed."""
    if x.rank < 2:
        return
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    turned = model.node("Transpose", [x.name], tuple(x.shape[axis] for axis in order), perm=order)
    if turned is not None:
        y = model.node("MatMul", [x.name, turned.name], (*x.shape[:-1], x.shape[-2]))
        if y is not None:
            model.node("Softmax", [y.name], y.shape, axis=-1)


@_step(3)
def _concat(model: RandomModel, x: Tensor) -> None:
    axis = model.source.randrange(x.rank)
    others = [
        y
        for y in model.values
        if y.rank == x.rank and all(a == b or i == axis for i, (a, b) in enumerate(zip(x.shape, y.shape, strict=True)))
    ]
    parts = [x, *(model.source.choice(others) for _ in range(model.source.choice((1, 1, 2))))]
    model.source.shuffle(parts)
    shape = list(x.shape)
    shape[axis] = tuple(map(sum, zip(*(part.shape[axis] for part in parts), strict=True)))
    model.node("Concat", [part.name for part in parts], tuple(shape), axis=axis - x.rank * model.source.randrange(2))


@_step(2)
def _reshape(model: RandomModel, x: Tensor) -> None:
    """Neighbouring axes become one, or a fixed one becomes two."""
    axis = model.source.randrange(x.rank)
    shape, request = list(x.shape), [0] * x.rank
    if model.source.random() < 0.5 and axis + 1 < x.rank:
        shape[axis : axis + 2] = [tuple(a * b for a, b in zip(x.shape[axis], x.shape[axis + 1], strict=True))]
        request = [e[0] if is_fixed(e) else -1 if i == axis else 0 if i < axis else e for i, e in enumerate(shape)]
        if any(not isinstance(each, int) for each in request) or request.count(-1) > 1:
            return
    else:
        extent = x.shape[axis]
        if not is_fixed(extent):
            return
        factor = model.source.choice([f for f in range(1, extent[0] + 1) if extent[0] % f == 0])
        shape[axis : axis + 1] = [fixed(factor), fixed(extent[0] // factor)]
        if not all(is_fixed(e) for e in x.shape[axis + 1 :]):
            return
        request = [0] * axis + [each[0] for each in shape[axis:]]
    model.node("Reshape", [x.name, model.constant(request)], tuple(shape))


@_step(1)
def _axes(model: RandomModel, x: Tensor) -> None:
    ones = [axis for axis, extent in enumerate(x.shape) if extent == fixed(1)]
    if ones and x.rank > 1 and model.source.random() < 0.5:
        axis = model.source.choice(ones)
        shape = tuple(extent for i, extent in enumerate(x.shape) if i != axis)
        model.node("Squeeze", [x.name, model.constant([axis])], shape)
    else:
        axis = model.source.randrange(x.rank + 1)
        shape = (*x.shape[:axis], fixed(1), *x.shape[axis:])
        model.node("Unsqueeze", [x.name, model.constant([axis])], shape)


@_step(1)
def _flatten(model: RandomModel, x: Tensor) -> None:
    axis = model.source.randrange(x.rank + 1)
    parts = (x.shape[:axis], x.shape[axis:])
    shape = tuple(tuple(prod(extent[i] for extent in part) for i in range(len(BINDINGS))) for part in parts)
    model.node("Flatten", [x.name], shape, axis=axis)


@_step(3)
def _transpose(model: RandomModel, x: Tensor) -> None:
    order = list(range(x.rank))
    model.source.shuffle(order)
    model.node("Transpose", [x.name], tuple(x.shape[axis] for axis in order), perm=order)


@_step(3)
def _reduce(model: RandomModel, x: Tensor) -> None:
    op_type = model.source.choice(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare"))
    axes = sorted(model.source.sample(range(x.rank), model.source.randrange(1, x.rank + 1)))
    keep = model.source.randrange(2)
    kept = [fixed(1) if axis in axes else extent for axis, extent in enumerate(x.shape)]
    shape = tuple(kept) if keep else tuple(extent for axis, extent in enumerate(x.shape) if axis not in axes)
    if not shape:
        return
    y = model.node(op_type, [x.name, model.constant(axes)], shape, keepdims=keep)
    if y is not None and op_type in ("ReduceSum", "ReduceL1", "ReduceSumSquare"):
        model.node("Tanh", [y.name], y.shape)


@_step(2)
def _softmax(model: RandomModel, x: Tensor) -> None:
    op_type, axis = model.source.choice(("Softmax", "LogSoftmax")), model.source.randrange(-x.rank, x.rank)
    model.node(op_type, [x.name], x.shape, axis=axis)


@_step(2)
def _normalization(model: RandomModel, x: Tensor) -> None:
    if x.rank >= 2 and is_fixed(x.shape[-1]) and x.shape[-1][0] > 3:
        n = x.shape[-1][0]
        model.node("LayerNormalization", [x.name, model.weights(n), model.weights(n)], x.shape, axis=-1, epsilon=0.05)
    elif x.rank >= 3 and is_fixed(x.shape[1]):
        n = x.shape[1][0]
        names = [x.name, model.weights(n), model.weights(n)]
        model.node("InstanceNormalization", names, x.shape, epsilon=0.05)


@_step(3)
def _slice(model: RandomModel, x: Tensor) -> None:
    axis = model.source.randrange(x.rank)
    extent, least = x.shape[axis], x.least[axis]
    step = model.source.choice((1, 1, 2, -1, -2, 3))
    start = model.source.randrange(-least, least)
    end = model.source.choice((2**62, -1, least) if step > 0 else (-(2**62), 0))
    sizes = tuple(len(range(*slice(start, None if abs(end) > 2**60 else end, step).indices(e))) for e in extent)
    shape = (*x.shape[:axis], sizes, *x.shape[axis + 1 :])
    if min(sizes) < 1:
        return
    names = [model.constant([number]) for number in (start, end, axis, step)]
    model.node("Slice", [x.name, *names], shape)


@_step(2)
def _pad(model: RandomModel, x: Tensor) -> None:
    mode = model.source.choice(("constant", "reflect", "edge"))
    limits = [min(2, least - 1) if mode == "reflect" else 2 for least in x.least]
    begin, end = ([model.source.randrange(limit + 1) for limit in limits] for _ in range(2))
    shape = tuple(tuple(v + a + b for v in e) for e, a, b in zip(x.shape, begin, end, strict=True))
    value = [model.constant(np.array(0.7))] if mode == "constant" and model.source.random() < 0.7 else []
    model.node("Pad", [x.name, model.constant([*begin, *end]), *value], shape, mode=mode)


@_step(2)
def _split(model: RandomModel, x: Tensor) -> None:
    axis = model.source.randrange(x.rank)
    extent = x.shape[axis]
    if not is_fixed(extent) or extent[0] < 2:
        return
    first = model.source.randrange(1, extent[0])
    sizes = (first, extent[0] - first)
    shapes = [(*x.shape[:axis], fixed(size), *x.shape[axis + 1 :]) for size in sizes]
    parts = [Tensor(f"v{len(model.values)}_{index}", shape) for index, shape in enumerate(shapes)]
    names = [part.name for part in parts]
    model.nodes.append(helper.make_node("Split", [x.name, model.constant(list(sizes))], names, axis=axis))
    model.values += parts


@_step(1)
def _tile(model: RandomModel, x: Tensor) -> None:
    repeats = [model.source.choice((1, 1, 2)) for _ in range(x.rank)]
    shape = tuple(tuple(v * r for v in extent) for extent, r in zip(x.shape, repeats, strict=True))
    model.node("Tile", [x.name, model.constant(repeats)], shape)


@_step(1)
def _expand(model: RandomModel, x: Tensor) -> None:
    request = [model.source.choice((1, 4)) if extent == fixed(1) else 1 for extent in x.shape]
    shape = tuple(fixed(r) if extent == fixed(1) else extent for extent, r in zip(x.shape, request, strict=True))
    model.node("Expand", [x.name, model.constant([2, *request])], (fixed(2), *shape))


@_step(2)
def _gather(model: RandomModel, x: Tensor) -> None:
    axis = model.source.randrange(x.rank)
    least = x.least[axis]
    rows = [model.source.randrange(-least, least) for _ in range(model.source.choice((1, 3)))]
    shape = (*x.shape[:axis], fixed(len(rows)), *x.shape[axis + 1 :])
    model.node("Gather", [x.name, model.constant(rows)], shape, axis=axis)


@_step(2)
def _resize(model: RandomModel, x: Tensor) -> None:
    if x.rank != 4:
        return
    scales = [1.0, 1.0, *(model.source.choice((1.0, 2.0, 3.0)) for _ in range(2))]
    shape = (*x.shape[:2], *(tuple(int(v * s) for v in e) for e, s in zip(x.shape[2:], scales[2:], strict=True)))
    mode = model.source.choice(("nearest", "linear"))
    extra = {"nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"} if mode == "nearest" else {}
    model.node("Resize", [x.name, "", model.constant(np.array(scales))], shape, mode=mode, **extra)
