"""The manifest: what is written is read back, and every wrong key is named."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from typing import Any

import pytest

from cuvil_edge.artifact.manifest import FORMAT, Manifest
from cuvil_edge.errors import ArtifactError


def _get(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _without(manifest: Manifest, *path: str | int) -> dict[str, Any]:
    value = copy.deepcopy(manifest.to_json())
    del _get(value, path[:-1])[path[-1]]
    return value


def _with(manifest: Manifest, new: Any, *path: str | int) -> dict[str, Any]:
    value = copy.deepcopy(manifest.to_json())
    _get(value, path[:-1])[path[-1]] = new
    return value


def test_round_trip(manifest: Manifest) -> None:
    assert Manifest.from_bytes(manifest.to_bytes()) == manifest
    assert manifest.sha256() == Manifest.from_bytes(manifest.to_bytes()).sha256()


def test_the_written_keys_are_those_of_the_format(manifest: Manifest) -> None:
    value = json.loads(manifest.to_bytes())
    assert list(value) == [
        "format",
        "model",
        "compiler",
        "target",
        "precision",
        "symbols",
        "inputs",
        "outputs",
        "memory",
        "slots",
        "steps",
        "reference",
        "members",
    ]
    assert value["symbols"][0] == {"name": "N", "min": 1, "max": 8, "multiple_of": 1}
    assert value["steps"][0]["inputs"][0] == {"value": "image", "dtype": "f32", "shape": ["N", 3, "`im h`//2"]}
    assert value["memory"] == {
        "weights_bytes": 768,
        "arena": {"symbols": {"N": 1, "im h": 8}, "planned_bytes": 64, "lower_bound_bytes": 48},
    }


def test_names_of_members_that_stages_look_for(manifest: Manifest) -> None:
    assert (manifest.library_name, manifest.program_name) == ("lib/raspberry-pi-5.so", "bin/raspberry-pi-5")


def test_extents_at_given_symbols(manifest: Manifest) -> None:
    assert manifest.inputs[0].extents({"N": 2, "im h": 10}) == (2, 3, 5)


def test_a_newer_format_is_named_before_anything_else() -> None:
    with pytest.raises(ArtifactError, match="newer than this cuvil-edge") as caught:
        Manifest.from_json({"format": FORMAT + 1, "completely": "different"})
    assert "update cuvil-edge" in str(caught.value.hint)


@pytest.mark.parametrize(
    "path",
    [
        ("format",),
        ("model",),
        ("model", "sha256"),
        ("compiler", "version"),
        ("target", "required_features"),
        ("symbols",),
        ("symbols", 0, "name"),
        ("inputs", 0, "shape"),
        ("memory", "weights_bytes"),
        ("memory", "arena", "planned_bytes"),
        ("slots", 0, "bytes"),
        ("steps", 0, "layers"),
        ("steps", 0, "outputs", 0, "dtype"),
        ("reference", 0, "relative_tolerance"),
        ("reference", 0, "symbols"),
    ],
)
def test_a_missing_key_is_named(manifest: Manifest, path: tuple[str | int, ...]) -> None:
    with pytest.raises(ArtifactError) as caught:
        Manifest.from_json(_without(manifest, *path))
    assert str(path[-1]) in str(caught.value.thing)
    assert caught.value.what == "is missing"


WRONG: list[tuple[Any, tuple[str | int, ...]]] = [
    (0, ("format",)),
    ("1", ("format",)),
    ("../evil", ("model", "name")),
    (".hidden", ("model", "name")),
    ("a/b", ("target", "name")),
    ("-rf", ("target", "name")),
    ("x" * 200, ("model", "name")),
    ("XYZ", ("model", "sha256")),
    ("f33", ("inputs", 0, "dtype")),
    (-1, ("inputs", 0, "shape", 1)),
    (1.5, ("inputs", 0, "shape", 1)),
    (True, ("inputs", 0, "shape", 1)),
    (2**63, ("inputs", 0, "shape", 1)),
    ("M*2", ("inputs", 0, "shape", 1)),
    ("N*", ("steps", 0, "flops")),
    (None, ("steps", 0, "bytes_read")),
    ([1] * 100, ("inputs", 0, "shape")),
    (0, ("symbols", 0, "multiple_of")),
    (0, ("symbols", 0, "max")),
    ("N", ("symbols", 1, "name")),
    ("heap", ("slots", 0, "kind")),
    (7, ("slots", 0, "last_step")),
    ("reference/../../etc/passwd", ("reference", 0, "inputs", 0)),
    ("/etc/passwd", ("reference", 0, "inputs", 0)),
    ("weights.bin", ("reference", 0, "inputs", 0)),
    ([], ("reference", 0, "outputs")),
    ([["a"]], ("reference", 0, "input_shapes")),
    (-1e-9, ("reference", 0, "absolute_tolerance")),
    ({"M": 1}, ("reference", 0, "symbols")),
    ({"N": "1"}, ("memory", "arena", "symbols")),
    ({"../x": {"bytes": 1, "sha256": "0" * 64}}, ("members",)),
    ({"/x": {"bytes": 1, "sha256": "0" * 64}}, ("members",)),
    ({"a\\b": {"bytes": 1, "sha256": "0" * 64}}, ("members",)),
    ({"c:x": {"bytes": 1, "sha256": "0" * 64}}, ("members",)),
    ({"x": {"bytes": 1, "sha256": "0" * 63}}, ("members",)),
    ({"x": {"bytes": 9, "sha256": "0" * 64, "chunk_bytes": 4096, "chunk_sha256": ["0" * 64] * 2}}, ("members",)),
    ({"x": {"bytes": 9, "sha256": "0" * 64, "chunk_bytes": 1}}, ("members",)),
]


@pytest.mark.parametrize(("new", "path"), WRONG)
def test_a_wrong_value_is_refused_and_named(manifest: Manifest, new: Any, path: tuple[str | int, ...]) -> None:
    with pytest.raises(ArtifactError) as caught:
        Manifest.from_json(_with(manifest, new, *path))
    assert str(path[0]) in str(caught.value.thing)


def test_a_reference_to_a_member_that_does_not_exist_is_named(manifest: Manifest) -> None:
    other = {"other": {"bytes": 1, "sha256": "0" * 64}}
    with pytest.raises(ArtifactError, match=r"reference\[0\]: names the member .* which does not exist"):
        Manifest.from_json(_with(manifest, other, "members"))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"format": 1, "format": 2}',
        b'{"format": NaN}',
        b"[" * 100_000,
        b'{"format": ' + b"9" * 5000 + b"}",
    ],
)
def test_text_that_is_no_manifest(text: bytes) -> None:
    with pytest.raises(ArtifactError) as caught:
        Manifest.from_bytes(text, "model.cuvil: manifest.json")
    assert str(caught.value).startswith("model.cuvil: manifest.json")


def test_random_changes_never_escape_as_another_error(manifest: Manifest) -> None:
    rng = random.Random(22)
    values: list[Any] = [None, True, -1, 2**70, 1e308, "", "N", "..", [], {}, [[]], {"N": {}}, "\ud800", "x\0"]
    for _ in range(1500):
        value = copy.deepcopy(manifest.to_json())
        place: Any = value
        for _ in range(rng.randrange(1, 6)):
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            if not isinstance(place[key], dict | list) or rng.random() < 0.3:
                place[key] = rng.choice(values)
                break
            place = place[key]
        with contextlib.suppress(ArtifactError):
            Manifest.from_json(value)
