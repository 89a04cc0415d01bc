"""Open dimensions: equal names are one symbol, anonymous ones are not, and the user's ranges hold."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import TensorProto, helper

from cuvil_edge.errors import ModelError, UsageError
from cuvil_edge.frontends.onnx.symbols import SymbolTable
from cuvil_edge.ir.dim import Dim, Extent, Symbol


def _shape(table: SymbolTable, name: str, dims: list[Any]) -> tuple[Extent, ...]:
    return table.shape(name, helper.make_tensor_value_info(name, TensorProto.FLOAT, dims).type.tensor_type)


def _names(shape: tuple[Extent, ...]) -> list[str]:
    return [str(extent) for extent in shape]


def test_equal_names_are_one_symbol_across_inputs() -> None:
    table = SymbolTable(None)
    a, b = _shape(table, "a", ["N", 3, "L"]), _shape(table, "b", ["L", "N"])
    assert (a[0], a[2]) == (b[1], b[0])
    assert a[1] == 3


def test_dimensions_without_a_name_of_their_own_are_separate() -> None:
    shape = _shape(SymbolTable(None), "x", [None, -1, 0, "?", "?", ""])
    assert _names(shape) == ["x_0", "x_1", "x_2", "x_3", "x_4", "x_5"]


def test_made_names_do_not_meet_the_models() -> None:
    shape = _shape(SymbolTable(None), "x", ["x_1", "?"])
    assert len(set(_names(shape))) == 2


def test_odd_names_are_kept_in_backquotes_and_impossible_ones_replaced() -> None:
    shape = _shape(SymbolTable(None), "x", ["p2o.Dim.0", "a`b", "a\nb"])
    assert _names(shape) == ["`p2o.Dim.0`", "x_1", "x_2"]


def test_negative_extents_are_faults() -> None:
    with pytest.raises(ModelError, match="input x: an extent is negative"):
        _shape(SymbolTable(None), "x", [-5])


def test_ranges_round_to_multiples() -> None:
    table = SymbolTable({"H": (30, 100, 32), "W": [1, None], "D": (7, 7)})
    shape = _shape(table, "x", ["H", "W", "D"])
    assert shape == (Dim.of(Symbol("H", 32, 96, 32)), Dim.of(Symbol("W")), 7)


@pytest.mark.parametrize(
    "chosen",
    [-1, True, 2**40, (1,), (5, 2), (1, 2, 0), (33, 60, 32), "8", 1.5, (1, 2, 3, 4), (None, 4), (1, "x")],
    ids=str,
)
def test_impossible_ranges_are_refused(chosen: Any) -> None:
    with pytest.raises(UsageError, match="dimension N"):
        _shape(SymbolTable({"N": chosen}), "x", ["N"])


def test_unknown_names_are_listed_with_the_known() -> None:
    table = SymbolTable({"batch": 1})
    _shape(table, "x", ["N", "?"])
    with pytest.raises(UsageError, match=r"(?s)batch.*N, x_1"):
        table.refuse_unknown()
