"""What an operation is. Each operation is one file in ``cuvil_edge/ops``; its attributes are its dataclass fields."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cuvil_edge.ir.check import Checks
from cuvil_edge.ir.dim import Extent
from cuvil_edge.ir.tensor_type import TensorType

if TYPE_CHECKING:
    from cuvil_edge.ir.builder import GraphBuilder
    from cuvil_edge.ir.graph import Value

Inputs = Sequence["Value | None"]
"""Inputs of a node; an optional input that is left out is None."""


@dataclass(frozen=True)
class Cost:
    """Work of one execution, in extents over the model's symbols.

    ``flops`` counts a multiply-add as two. Bytes count each tensor once, as if caches were perfect.
    """

    flops: Extent
    bytes_read: Extent
    bytes_written: Extent


@dataclass(frozen=True)
class Sample:
    """One test case of an operation: the operation and its inputs (None for one that is left out).

    ``constant`` lists the inputs that must be constants of the graph (weights, shapes); the rest are run-time inputs.
    """

    op: Op
    inputs: tuple[np.ndarray | None, ...]
    constant: tuple[int, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Op(ABC):
    """An operation: immutable, equal if type and attributes are equal."""

    shape_arithmetic: ClassVar[bool] = False
    """True if the reference also works on object arrays of extents, so that shape computations stay symbolic."""
    is_view: ClassVar[bool] = False
    """True if the output is the bytes of the first input unchanged, under another shape."""

    @cached_property
    def name(self) -> str:
        """The operation's word: its file's name."""
        return type(self).__module__.rsplit(".", 1)[-1]

    @abstractmethod
    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """Types of the outputs; ShapeError or UnsupportedError with what is wrong (the caller adds the node's name).

        An input's ``constant`` (numpy array) is known for weights, its ``content`` (object array of extents) for small
        integer tensors that are computed from shapes.
        """

    @abstractmethod
    def reference(self, *inputs: Any, **_: Any) -> np.ndarray | tuple[np.ndarray, ...]:
        """The definition: obvious and slow numpy. Each operation names its own inputs, all positional."""

    @classmethod
    @abstractmethod
    def samples(cls) -> list[Sample]:
        """Test cases: odd sizes, every attribute, the corners where wrong answers hide."""

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """Work of one execution; by default memory traffic only."""
        read: Extent = 0
        for tensor in inputs:
            read = read + (tensor.bytes if tensor else 0)
        written: Extent = 0
        for tensor in outputs:
            written = written + tensor.bytes
        return Cost(0, read, written)

    def contents(self, inputs: Inputs) -> tuple[np.ndarray, ...] | None:
        """Elements of the outputs as object arrays of extents, where they follow from what is known of the inputs.

        By default the reference applied to the inputs' known contents. TypeError, ValueError or ArithmeticError mean
        that there is no symbolic answer (such as for a comparison that depends on a symbol's value).
        """
        known = [None if value is None else value.known_content() for value in inputs]
        if any(value is not None and content is None for value, content in zip(inputs, known, strict=True)):
            return None
        results = self.reference(*known)
        return results if isinstance(results, tuple) else (results,)

    def decompose(self, builder: GraphBuilder, inputs: Inputs) -> list[Value] | None:
        """The same in terms of smaller operations, added to ``builder``; None if this operation is a basic one."""
        return None

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """The operation ``t`` with ``t(transpose(x, p)) = transpose(self(x), p)`` for run-time inputs x of full rank.

        None if there is no such operation. Lets layout changes move through the graph and cancel.
        """
        return None
