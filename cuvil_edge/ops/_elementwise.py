"""Base of the element-wise operations: each is one scalar expression."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from cuvil_edge.errors import ShapeError, UnsupportedError
from cuvil_edge.ir.check import Checks, broadcast_shapes
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Cost, Inputs, Op, Sample
from cuvil_edge.ir.scalar import PARAMETERS, ScalarExpr, evaluate, operation_count, parse
from cuvil_edge.ir.tensor_type import TensorType
from cuvil_edge.ops._inputs import required

FLOATS = (DType.F32, DType.F16, DType.F64)
SIGNED = (DType.I64, DType.I32, DType.I16, DType.I8)
UNSIGNED = (DType.U64, DType.U32, DType.U16, DType.U8)
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS


@dataclass(frozen=True)
class Elementwise(Op):
    """One output; operands broadcast against each other (numpy rules); every operand has the same element type.

    ``scalar`` is the expression in operands ``a, b, c...`` and the operation's numeric attributes by name.
    """

    scalar: ClassVar[str]
    dtypes: ClassVar[tuple[DType, ...]] = ()
    """Element types that the operation accepts; empty means all."""
    sampled_dtypes: ClassVar[tuple[DType, ...]] = (DType.F32, DType.I64, DType.I32, DType.U8, DType.I8, DType.BOOL)
    """Of the accepted element types, those that the samples use."""

    def text(self) -> str:
        """``scalar``, unless attributes choose between several expressions."""
        return self.scalar

    def expression(self, dtypes: Sequence[DType]) -> ScalarExpr:
        """The typed expression for operands of these element types."""
        return parse(self.text(), dtypes, asdict(self))

    def infer(self, inputs: Inputs, checks: Checks) -> list[TensorType]:
        """The broadcast shape; the expression's element type."""
        types = [required(inputs, index).type for index in range(self.arity())]
        self.check_dtypes([type_.dtype for type_ in types])
        names = ", ".join(map(str, types))
        shape = broadcast_shapes([type_.shape for type_ in types], checks, f"shapes do not broadcast: {names}")
        return [TensorType(self.expression([type_.dtype for type_ in types]).dtype, shape)]

    def check_dtypes(self, dtypes: list[DType]) -> None:
        """Raise unless the operands' element types are accepted and equal."""
        for dtype in dtypes:
            if self.dtypes and dtype not in self.dtypes:
                accepted = ", ".join(accepted.value for accepted in self.dtypes)
                raise UnsupportedError("element type", expected=accepted, found=dtype.value)
        if len(set(dtypes)) > 1:
            raise ShapeError("operands differ in element type", found=", ".join(dtype.value for dtype in dtypes))

    def reference(self, *inputs: np.ndarray | None) -> np.ndarray:
        """The expression, evaluated by numpy."""
        arrays = [np.asarray(array) for array in inputs if array is not None]
        dtypes = [DType.I64 if array.dtype == object else DType.of(array) for array in arrays]
        with np.errstate(all="ignore"):
            return evaluate(self.expression(dtypes), arrays)

    def cost(self, inputs: Sequence[TensorType | None], outputs: Sequence[TensorType]) -> Cost:
        """One flop for each function of the expression and element."""
        traffic = super().cost(inputs, outputs)
        count = operation_count(self.expression([type_.dtype for type_ in inputs if type_]))
        return Cost(outputs[0].elements * count, traffic.bytes_read, traffic.bytes_written)

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """Element-wise work does not care for the order of axes."""
        return self

    @classmethod
    def variants(cls) -> list[Elementwise]:
        """The operation with each interesting choice of its attributes, for the samples."""
        return [cls()]

    @classmethod
    def samples(cls) -> list[Sample]:
        """Odd shapes, broadcasting of every side, empty tensors, for each accepted element type."""
        random = np.random.default_rng(len(cls.__name__))
        count = cls.operand_count()
        shapes: list[list[tuple[int, ...]]] = [[(3, 5, 7)] * count, [(1,)] * count, [()] * count, [(2, 0, 3)] * count]
        if count > 1:
            shapes += [[(3, 1, 7), *[(5, 1)] * (count - 1)], [(), *[(2, 3)] * (count - 1)]]
        samples = []
        for dtype in cls.sampled_dtypes:
            if cls.dtypes and dtype not in cls.dtypes:
                continue
            for variant, op in enumerate(cls.variants()):
                for group in shapes if variant == 0 else shapes[:1]:
                    arrays = tuple(cls.sample_array(random, shape, dtype) for shape in group)
                    samples.append(Sample(op, arrays, name=f"{dtype.value}_{variant}_{group}"))
        return samples

    def arity(self) -> int:
        """The number of operands."""
        return self.operand_count()

    @classmethod
    @cache
    def operand_count(cls) -> int:
        """How many of the operand names the expression uses."""
        names = {node.id for node in ast.walk(ast.parse(cls.scalar)) if isinstance(node, ast.Name)}
        return max((PARAMETERS.index(name) + 1 for name in names if name in PARAMETERS), default=0)

    @classmethod
    def sample_array(cls, random: np.random.Generator, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """Random elements of ``dtype``; overridden where the operation's domain is smaller."""
        if dtype.is_float:
            return (random.standard_normal(shape) * 3).astype(dtype.numpy)
        if dtype is DType.BOOL:
            return np.asarray(random.integers(0, 2, shape), dtype=bool)
        return np.asarray(random.integers(0 if dtype.value[0] == "u" else -20, 20, shape), dtype=dtype.numpy)
