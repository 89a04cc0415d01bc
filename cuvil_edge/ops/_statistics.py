"""Mean and variance in terms of basic operations, for the normalizations that decompose."""

from __future__ import annotations

import numpy as np

from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.graph import Value
from cuvil_edge.ops.add import Add
from cuvil_edge.ops.div import Div
from cuvil_edge.ops.mul import Mul
from cuvil_edge.ops.reduce_mean import ReduceMean
from cuvil_edge.ops.sqrt import Sqrt
from cuvil_edge.ops.sub import Sub


def normalized(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> np.ndarray:
    """``(x - mean) / sqrt(variance + epsilon)`` over ``axes``."""
    with np.errstate(all="ignore"):
        centred = x - np.mean(x, axis=axes, keepdims=True)
        return np.asarray(centred / np.sqrt(np.mean(centred**2, axis=axes, keepdims=True) + epsilon))


def add_normalized(builder: GraphBuilder, x: Value, axes: tuple[int, ...], epsilon: float) -> Value:
    """Add the operations for ``normalized``."""
    centred = builder.add1(Sub(), x, builder.add1(ReduceMean(axes), x))
    return builder.add1(Div(), centred, add_root_mean_square(builder, centred, axes, epsilon))


def add_root_mean_square(builder: GraphBuilder, x: Value, axes: tuple[int, ...], epsilon: float) -> Value:
    """Add the operations for ``sqrt(mean(x ** 2) + epsilon)``."""
    variance = builder.add1(ReduceMean(axes), builder.add1(Mul(), x, x))
    constant = builder.constant(np.asarray(epsilon, x.type.dtype.numpy), f"{builder.name}.epsilon")
    return builder.add1(Sqrt(), builder.add1(Add(), variance, constant))
