"""FusedElementwise: a chain of element-wise operations as one expression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.op import Op, Sample
from cuvil_edge.ir.scalar import Arg, Call, Literal, ScalarExpr, call
from cuvil_edge.ops._elementwise import Elementwise


@dataclass(frozen=True)
class FusedElementwise(Elementwise):
    """One scalar expression over operands that broadcast; operands may differ in element type."""

    tree: ScalarExpr = field(default=Literal(0, DType.F32))
    """The typed expression; ``Arg(i)`` is operand ``i``."""

    def expression(self, dtypes: Sequence[DType]) -> ScalarExpr:
        """The tree itself: it is typed already."""
        return self.tree

    def arity(self) -> int:
        """One more than the highest operand in the tree."""
        return 1 + max((leaf.index for leaf in _leaves(self.tree)), default=-1)

    def check_dtypes(self, dtypes: list[DType]) -> None:
        """Nothing: the tree says what each operand is."""

    def transposed(self, permutation: tuple[int, ...]) -> Op | None:
        """Element-wise work does not care for the order of axes."""
        return self

    @classmethod
    def samples(cls) -> list[Sample]:
        """A float chain with a broadcast operand and with one of full rank; results of other types."""
        random = np.random.default_rng(1)
        x, bias = (random.standard_normal(shape).astype(np.float32) for shape in ((3, 5, 17), (17,)))
        a, b = Arg(0, DType.F32), Arg(1, DType.F32)
        total = call("add", a, b)
        swish = call("mul", total, call("sigmoid", total))
        positive = call("gt", total, Literal(0.0, DType.F32))
        return [
            Sample(cls(swish), (x, bias), name="swish"),
            Sample(cls(swish), (x, x[:, :1]), name="full_rank"),
            Sample(cls(positive), (x, bias), name="compare"),
            Sample(cls(call("select", positive, a, call("exp", b))), (x, bias), name="select"),
        ]


def _leaves(tree: ScalarExpr) -> Iterator[Arg]:
    if isinstance(tree, Arg):
        yield tree
    for part in tree.args if isinstance(tree, Call) else ():
        yield from _leaves(part)
