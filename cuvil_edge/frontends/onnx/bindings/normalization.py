"""Normalizations and softmax."""

from __future__ import annotations

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.binding import binds
from cuvil_edge.frontends.onnx.node import OnnxNode, normal_axes, normal_axis
from cuvil_edge.ir.dim import product
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops._statistics import add_root_mean_square
from cuvil_edge.ops.batch_normalization import BatchNormalization
from cuvil_edge.ops.expand import Expand
from cuvil_edge.ops.group_normalization import GroupNormalization
from cuvil_edge.ops.instance_normalization import InstanceNormalization
from cuvil_edge.ops.layer_normalization import LayerNormalization
from cuvil_edge.ops.log_softmax import LogSoftmax
from cuvil_edge.ops.lp_normalization import LpNormalization
from cuvil_edge.ops.lrn import Lrn
from cuvil_edge.ops.mean_variance_normalization import MeanVarianceNormalization
from cuvil_edge.ops.reciprocal import Reciprocal
from cuvil_edge.ops.reduce_mean import ReduceMean
from cuvil_edge.ops.reshape import Reshape
from cuvil_edge.ops.rms_normalization import RmsNormalization
from cuvil_edge.ops.softmax import Softmax
from cuvil_edge.ops.sub import Sub


@binds("BatchNormalization", since=7)
def batch_normalization(node: OnnxNode) -> Value:
    """With the statistics that training left."""
    node.attributes.ignore("momentum")
    if not node.attributes.flag("spatial", True):
        raise UnsupportedError("statistics of single elements (spatial 0) are not supported")
    if node.attributes.flag("training_mode"):
        raise UnsupportedError("training_mode is not supported", hint="export the model in inference mode")
    if any(node.output_used[1:]):
        raise UnsupportedError("statistics as outputs exist only while training")
    op = BatchNormalization(node.attributes.real("epsilon", 1e-5))
    return node.add(op, *(node.input(index) for index in range(5)))


@binds("Softmax", "LogSoftmax")
def softmax_of_matrix(node: OnnxNode) -> Value:
    """Before opset 13 all axes from ``axis`` on are one row."""
    x, op = node.input(0), Softmax if node.op_type == "Softmax" else LogSoftmax
    rank = x.type.rank
    axis = node.attributes.integer("axis", 1)
    axis = rank if axis == rank else normal_axis(axis, rank)
    if axis == rank - 1:
        return node.add(op(axis), x)
    before, after = product(x.type.shape[:axis]), product(x.type.shape[axis:])
    rows = node.add(Reshape((before, after)), x)
    return node.add(Reshape(x.type.shape), node.add(op(1), rows))


@binds("Softmax", "LogSoftmax", since=13)
def softmax(node: OnnxNode) -> Value:
    """Along one axis."""
    x, op = node.input(0), Softmax if node.op_type == "Softmax" else LogSoftmax
    return node.add(op(normal_axis(node.attributes.integer("axis", -1), x.type.rank)), x)


@binds("LayerNormalization", since=17)
def layer_normalization(node: OnnxNode) -> list[Value]:
    """Mean and inverse deviation are further outputs."""
    x, bias = node.input(0), node.optional(2)
    axis = normal_axis(node.attributes.integer("axis", -1), x.type.rank)
    epsilon = node.attributes.real("epsilon", 1e-5)
    node.attributes.ignore("stash_type")
    row = x.type.shape[axis:]
    scale = _as_row(node, node.input(1), row)
    operands = [x, scale] if bias is None else [x, scale, _as_row(node, bias, row)]
    outputs = [node.add(LayerNormalization(axis, epsilon), *operands)]
    if any(node.output_used[1:]):
        axes = tuple(range(axis, x.type.rank))
        mean = node.add(ReduceMean(axes), x)
        deviation = add_root_mean_square(node.builder, node.add(Sub(), x, mean), axes, epsilon)
        outputs += [mean, node.add(Reciprocal(), deviation)]
    return outputs


def _as_row(node: OnnxNode, value: Value, row: tuple[object, ...]) -> Value:
    """A parameter that broadcasts to the normalized axes, in full."""
    if value.type.shape == row or value.type.rank > len(row):
        return value
    return node.add(Expand(row), value)  # type: ignore[arg-type]


@binds("InstanceNormalization")
def instance_normalization(node: OnnxNode) -> Value:
    """Each channel of each picture."""
    op = InstanceNormalization(node.attributes.real("epsilon", 1e-5))
    return node.add(op, *(node.input(index) for index in range(3)))


@binds("GroupNormalization", since=18)
def group_normalization(node: OnnxNode) -> Value:
    """Before opset 21 scale and bias are those of groups, then those of channels."""
    node.attributes.ignore("stash_type")
    x, groups = node.input(0), node.attributes.integer("num_groups", 0)
    op = GroupNormalization(groups, node.attributes.real("epsilon", 1e-5))
    parameters = [node.input(1), node.input(2)]
    channels = x.type.shape[1] if x.type.rank > 1 else 0
    if node.version < 21 and groups > 0 and isinstance(channels, int) and channels != groups:
        repeats = channels // groups
        wide = [node.add(Expand((groups, repeats)), node.add(Reshape((groups, 1)), value)) for value in parameters]
        parameters = [node.add(Reshape((groups * repeats,)), value) for value in wide]
    return node.add(op, x, *parameters)


@binds("RMSNormalization", since=23)
def rms_normalization(node: OnnxNode) -> Value:
    """Without mean."""
    x = node.input(0)
    node.attributes.ignore("stash_type")
    axis = normal_axis(node.attributes.integer("axis", -1), x.type.rank)
    return node.add(RmsNormalization(axis, node.attributes.real("epsilon", 1e-5)), x, node.input(1))


@binds("LpNormalization")
def lp_normalization(node: OnnxNode) -> Value:
    """Length 1."""
    x = node.input(0)
    axis = normal_axis(node.attributes.integer("axis", -1), x.type.rank)
    return node.add(LpNormalization(axis, node.attributes.integer("p", 2)), x)


@binds("MeanVarianceNormalization", since=9)
def mean_variance_normalization(node: OnnxNode) -> Value:
    """Mean 0 and variance 1."""
    x = node.input(0)
    axes = normal_axes(node.attributes.integers("axes", (0, 2, 3)), x.type.rank)
    return node.add(MeanVarianceNormalization(tuple(sorted(axes))), x)


@binds("LRN")
def lrn(node: OnnxNode) -> Value:
    """Across channels."""
    read = node.attributes
    size = read.integer("size")
    if size is None:
        raise ModelError("attribute size is missing")
    return node.add(Lrn(size, read.real("alpha", 1e-4), read.real("beta", 0.75), read.real("bias", 1.0)), node.input(0))
