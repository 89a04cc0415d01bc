"""Names and ranges of the dimensions that a model leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import TypeProto

from cuvil_edge.errors import ModelError, UnsupportedError, UsageError
from cuvil_edge.ir.dim import UNBOUNDED, Dim, Extent, Symbol

DimRange = int | Sequence[int | None]
"""A fixed extent, or (min, max) or (min, max, multiple_of); None for max is no upper limit."""

_ANONYMOUS = ("", "?", "*", "-1", "None")


class SymbolTable:
    """Gives each open dimension its symbol; equal names are one symbol.

    A dimension without a name of its own (none, ``?``, -1, 0) is a symbol ``<input>_<axis>``.

    Args:
        ranges: the user's choices, by symbol name.
    """

    def __init__(self, ranges: Mapping[str, DimRange] | None) -> None:
        self._ranges = dict(ranges or {})
        self._extents: dict[str, Extent] = {}
        self._own: set[str] = set()

    def shape(self, name: str, tensor: TypeProto.Tensor) -> tuple[Extent, ...]:
        """The shape of graph input ``name``."""
        if not tensor.HasField("shape"):
            hint = "give the input a shape (its extents may be symbolic), for example with onnx.tools.update_model_dims"
            raise UnsupportedError("an input has no shape, not even a number of axes", thing=f"input {name}", hint=hint)
        shape: list[Extent] = []
        for axis, dim in enumerate(tensor.shape.dim):
            if dim.HasField("dim_value") and dim.dim_value > 0:
                shape.append(int(dim.dim_value))
            elif dim.HasField("dim_value") and dim.dim_value < -1:
                raise ModelError("an extent is negative", thing=f"input {name}", found=str(dim.dim_value))
            else:
                shape.append(self._open(dim.dim_param, f"{name}_{axis}"))
        return tuple(shape)

    def _open(self, param: str, own_name: str) -> Extent:
        if param not in _ANONYMOUS and param.isprintable() and "`" not in param and len(param) <= 200:
            return self._extents.setdefault(param, self._extent(param))
        name, count = own_name.replace("`", "'"), 1
        while name in self._extents:
            count += 1
            name = f"{own_name}_{count}"
        self._extents[name] = self._extent(name)
        return self._extents[name]

    def _extent(self, name: str) -> Extent:
        chosen = self._ranges.get(name)
        if chosen is None:
            return Dim.of(Symbol(name))
        if isinstance(chosen, int):
            if isinstance(chosen, bool) or not 0 <= chosen < 2**31:
                raise UsageError(
                    "not an extent", thing=f"dimension {name}", expected="0 to 2147483647", found=str(chosen)
                )
            return chosen
        symbol = _ranged(name, chosen)
        return symbol.min if symbol.min == symbol.max else Dim.of(symbol)

    def refuse_unknown(self) -> None:
        """UsageError for a choice whose dimension the model does not have."""
        for name in self._ranges:
            if name not in self._extents:
                known = ", ".join(self._extents) or "none: every extent is fixed"
                raise UsageError("the model has no such dimension", thing=name, expected=known)


def _ranged(name: str, chosen: Sequence[int | None]) -> Symbol:
    text = f"({', '.join(map(str, chosen))})" if isinstance(chosen, list | tuple) else repr(chosen)
    fault = UsageError(
        "not a range",
        thing=f"dimension {name}",
        expected="an extent, or (min, max) or (min, max, multiple_of)",
        found=text,
    )
    if not isinstance(chosen, list | tuple) or not 2 <= len(chosen) <= 3:
        raise fault
    if any(isinstance(part, bool) or not isinstance(part, int | None) for part in chosen):
        raise fault
    low, high = chosen[0], UNBOUNDED if chosen[1] is None else chosen[1]
    multiple = chosen[2] if len(chosen) == 3 and chosen[2] is not None else 1
    if low is None or multiple < 1 or not 0 <= low <= high or high // multiple * multiple < low:
        raise fault
    first, last = -(-low // multiple) * multiple, high if high == UNBOUNDED else high // multiple * multiple
    return Symbol(name, first, last, multiple)
