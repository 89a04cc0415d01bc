"""The inputs of a run: symbols from shapes, made-up values that the model can take, and clear refusals."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuvil_edge.artifact.manifest import ReferenceCase, SymbolInfo, TensorInfo
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.artifact.writer import write_artifact
from cuvil_edge.cli._inputs import bind_symbols, gather_inputs
from cuvil_edge.errors import InputError, ShapeError
from tests.remote.artifacts import make_manifest

CASE = ReferenceCase(
    "random", {"N": 2, "a.b": 32}, ("reference/r/i0.bin", "reference/r/i1.bin"), ((2, 32), (2, 3)), (), (), 1e-4, 0
)
INPUTS = (TensorInfo("image", "f32", ("N", "`a.b`")), TensorInfo("index", "i64", ("N", 3)))
SYMBOLS = (SymbolInfo("N", 1, 8), SymbolInfo("a.b", 32, None, 32))


@pytest.fixture
def artifact(tmp_path: Path) -> Iterator[ArtifactReader]:
    manifest = make_manifest(inputs=INPUTS, outputs=(), symbols=SYMBOLS, reference=(CASE,), steps=(), slots=())
    members = {
        "weights.bin": b"",
        "reference/r/i0.bin": np.ones((2, 32), np.float32).tobytes(),
        "reference/r/i1.bin": np.array([[0, 1, 2], [2, 1, 0]], np.int64).tobytes(),
    }
    write_artifact(tmp_path / "m.cuvil", manifest, members)
    with ArtifactReader(tmp_path / "m.cuvil") as reader:
        yield reader


def arguments(**values: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"input": [], "shape": [], "seed": 0, **values})


def test_without_anything_the_reference_case_is_taken(artifact):
    inputs = gather_inputs(arguments(), artifact, make_up=True)
    assert inputs.source == "reference"
    assert inputs.symbols == {"N": 2, "a.b": 32}
    np.testing.assert_array_equal(inputs.arrays[0], np.ones((2, 32), np.float32))


def test_missing_inputs_are_named_with_dtype_and_shape(artifact):
    with pytest.raises(InputError) as error:
        gather_inputs(arguments(), artifact, make_up=False)
    text = str(error.value)
    assert "image: f32 (numpy float32), N x `a.b`" in text
    assert "index: i64 (numpy int64), N x 3" in text
    assert "--random" in text


def test_shape_binds_the_symbols_of_all_inputs(artifact):
    inputs = gather_inputs(arguments(shape=["image=4x64"]), artifact, make_up=True)
    assert inputs.symbols == {"N": 4, "a.b": 64}
    assert [array.shape for array in inputs.arrays] == [(4, 64), (4, 3)]
    assert inputs.source == "random"


def test_made_up_integers_stay_in_the_span_of_the_reference(artifact):
    index = gather_inputs(arguments(shape=["image=8x32"]), artifact, make_up=True).arrays[1]
    assert index.dtype == np.int64
    assert set(index.ravel()) == {0, 1, 2}


def test_seed_decides_the_values(artifact):
    first, again, other = (
        gather_inputs(arguments(shape=["image=1x32"], seed=seed), artifact, make_up=True).arrays[0]
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_file_of_another_dtype_is_not_converted_silently(artifact, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((2, 32)))
    with pytest.raises(InputError, match="float64") as error:
        gather_inputs(arguments(input=[f"image={tmp_path / 'x.npy'}"]), artifact, make_up=True)
    assert "astype" in str(error.value)


def test_file_and_shape_for_one_input(artifact, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((2, 32), np.float32))
    with pytest.raises(InputError, match="a file for this input already"):
        gather_inputs(arguments(input=[f"image={tmp_path / 'x.npy'}"], shape=["image=2x32"]), artifact, make_up=True)


def test_shape_of_an_unknown_input(artifact):
    with pytest.raises(InputError, match="did you mean"):
        gather_inputs(arguments(shape=["imag=1x32"]), artifact, make_up=True)


@pytest.mark.parametrize(
    ("shapes", "error", "words"),
    [
        ({"image": (4,)}, InputError, "wrong shape"),
        ({"index": (4, 4)}, InputError, "wrong shape"),
        ({"image": (4, 32), "index": (5, 3)}, ShapeError, "disagree"),
        ({"image": (9, 32)}, ShapeError, "1 to 8"),
        ({"image": (0, 32)}, ShapeError, "1 to 8"),
        ({"image": (4, 33)}, ShapeError, "a multiple of 32"),
    ],
)
def test_shapes_that_do_not_fit(artifact, shapes, error, words):
    with pytest.raises(error, match=words):
        bind_symbols(artifact.manifest, shapes)


def test_expression_is_checked_after_its_symbols_are_known(artifact):
    manifest = make_manifest(
        inputs=(TensorInfo("a", "f32", ("N",)), TensorInfo("b", "f32", ("N*2",))),
        symbols=(SymbolInfo("N"),),
        reference=(),
    )
    assert bind_symbols(manifest, {"a": (3,), "b": (6,)}) == {"N": 3}
    with pytest.raises(InputError, match="wrong shape"):
        bind_symbols(manifest, {"a": (3,), "b": (7,)})
