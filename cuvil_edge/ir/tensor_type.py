"""The type of a value: element type and shape."""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.ir.dim import Extent, Shape, product
from cuvil_edge.ir.dtype import DType


@dataclass(frozen=True)
class TensorType:
    """A dense row-major tensor; each extent is an int or an expression over symbols."""

    dtype: DType
    shape: Shape

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def elements(self) -> Extent:
        """The number of elements."""
        return product(self.shape)

    @property
    def bytes(self) -> Extent:
        """Bytes in memory."""
        return self.elements * self.dtype.item_bytes

    @property
    def is_static(self) -> bool:
        """True if no extent depends on a symbol."""
        return all(isinstance(extent, int) for extent in self.shape)

    def __str__(self) -> str:
        return f"{self.dtype.value}[{', '.join(str(extent) for extent in self.shape)}]"
