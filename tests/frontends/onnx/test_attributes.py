"""Attributes: typed reading, references inside functions, and no attribute that is ignored silently."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import AttributeProto, helper

from cuvil_edge.errors import ModelError, UnsupportedError
from cuvil_edge.frontends.onnx.attributes import Attributes
from cuvil_edge.frontends.onnx.tensors import TensorReader


def _attributes(**values: object) -> Attributes:
    protos = [helper.make_attribute(name, value) for name, value in values.items()]
    return Attributes(protos, {}, TensorReader(None))


def test_every_kind_is_read_as_python_values() -> None:
    read = _attributes(i=3, f=0.1, s="same", ints=[1, 2], floats=[0.2, 0.7], flag=1)
    assert (read.integer("i"), read.real("f"), read.text("s")) == (3, 0.1, "same")
    assert (read.integers("ints"), read.reals("floats"), read.flag("flag")) == ((1, 2), (0.2, 0.7), True)
    read.refuse_unread()


def test_missing_attributes_have_the_default() -> None:
    read = _attributes()
    assert (read.integer("i", 5), read.real("f", 0.5), read.text("s", "x"), read.integers("n", None)) == (
        5,
        0.5,
        "x",
        None,
    )
    assert read.tensor("t") is None
    assert read.graph("g") is None
    assert not read.has("i")


def test_infinite_reals_stay_infinite() -> None:
    assert _attributes(f=float("-inf")).real("f") == -np.inf


def test_a_wrong_kind_says_what_is_expected() -> None:
    with pytest.raises(ModelError, match=r"(?s)attribute axis is of a wrong kind.*expected: int\n.*found: float"):
        _attributes(axis=1.5).integer("axis")


def test_attributes_that_nobody_reads_are_refused() -> None:
    read = _attributes(known=1, forgotten=2)
    read.ignore("known")
    with pytest.raises(UnsupportedError, match="'forgotten' is not known"):
        read.refuse_unread()


def test_choices_are_checked() -> None:
    assert _attributes(mode="b").choice("mode", "a", ("a", "b")) == "b"
    with pytest.raises(UnsupportedError, match=r"(?s)mode.*expected: a or b.*found: c"):
        _attributes(mode="c").choice("mode", "a", ("a", "b"))


def test_an_attribute_given_twice_is_a_fault() -> None:
    with pytest.raises(ModelError, match="given twice"):
        Attributes([helper.make_attribute("a", 1)] * 2, {}, TensorReader(None))


def test_references_take_the_callers_attribute_or_none() -> None:
    given, left_out = (
        AttributeProto(name="axis", ref_attr_name="outer"),
        AttributeProto(name="eps", ref_attr_name="none"),
    )
    read = Attributes([given, left_out], {"outer": helper.make_attribute("outer", 7)}, TensorReader(None))
    assert read.integer("axis", 0) == 7
    assert read.real("eps", 0.25) == 0.25
