"""The texts of flags: what is accepted means what it says, everything else is refused with the right form."""

from __future__ import annotations

import argparse

import pytest

from cuvil_edge.cli._arguments import count, cpus_text, parse_cpus, parse_dims, parse_shapes, seconds
from cuvil_edge.errors import UsageError


def test_dims_fix_and_bound():
    assert parse_dims(["N=4", "height=32..1024:32", "w=1..8"]) == {"N": 4, "height": (32, 1024, 32), "w": (1, 8, 1)}


def test_dim_whose_name_has_an_equals_sign():
    assert parse_dims(["a=b=3"]) == {"a=b": 3}


@pytest.mark.parametrize(
    "text",
    ["N", "N=", "=4", "N=0", "N=-1", "N=four", "N=9..3", "N=0..4", "N=1..", "N=5..7:4", "N=1..4:0", "N=" + "9" * 40],
)
def test_dim_that_means_nothing(text):
    with pytest.raises(UsageError) as error:
        parse_dims([text])
    assert "NAME=32..1024:32" in str(error.value)


def test_dim_given_twice():
    with pytest.raises(UsageError, match="twice"):
        parse_dims(["N=1", "N=2"])


def test_shapes():
    assert parse_shapes(["image=1x3x8x8", "a=b=2", "rate=scalar"]) == {"image": (1, 3, 8, 8), "a=b": (2,), "rate": ()}


@pytest.mark.parametrize("text", ["x", "x=", "x=1x", "x=x1", "x=-1x2", "x=1.5", "x=٣"])
def test_shape_that_means_nothing(text):
    with pytest.raises(UsageError):
        parse_shapes([text])


@pytest.mark.parametrize(
    ("text", "cpus"), [("3", (3,)), ("4-7", (4, 5, 6, 7)), ("0,2,4-5", (0, 2, 4, 5)), ("1,1", (1,))]
)
def test_cpus(text, cpus):
    assert parse_cpus(text) == cpus
    assert parse_cpus(cpus_text(cpus)) == cpus


@pytest.mark.parametrize("text", ["", "a", "7-4", "1,,2", "-1", "0-99999999"])
def test_cpus_that_mean_nothing(text):
    with pytest.raises(argparse.ArgumentTypeError):
        parse_cpus(text)


def test_shortest_text_of_cpus():
    assert cpus_text((0, 4, 5, 6, 7, 9)) == "0,4-7,9"


@pytest.mark.parametrize("text", ["0", "11", "x", "", "1e3", "٣"])
def test_count_outside_its_range(text):
    with pytest.raises(argparse.ArgumentTypeError, match="from 1 to 10"):
        count("runs", 1, 10)(text)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "x", "1e9"])
def test_seconds_outside_their_range(text):
    with pytest.raises(argparse.ArgumentTypeError):
        seconds(text)
