"""Properties that hold for all expressions, manifests and members, searched by hypothesis."""

from __future__ import annotations

import dataclasses
import io
import zipfile
from typing import Any

import pytest

pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuvil_edge.artifact.expression import evaluate, parse, quote_symbol
from cuvil_edge.artifact.manifest import Manifest, SymbolInfo, TensorInfo
from cuvil_edge.artifact.writer import write_artifact
from cuvil_edge.errors import ArtifactError

COMMON = settings(
    max_examples=200, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
LEAVES = st.integers(0, 10_000).map(lambda value: (str(value), lambda _: value)) | NAMES.map(
    lambda name: (quote_symbol(name), lambda symbols: symbols[name])
)
OPERATIONS = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__, "//": int.__floordiv__}


def _combine(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def infix(operator: str, left: Any, right: Any) -> Any:
        apply = OPERATIONS[operator]
        return f"({left[0]} {operator} {right[0]})", lambda symbols: apply(left[1](symbols), right[1](symbols))

    def call(name: str, left: Any, right: Any) -> Any:
        choose = max if name == "max" else min
        return f"{name}({left[0]},{right[0]})", lambda symbols: choose(left[1](symbols), right[1](symbols))

    return st.builds(infix, st.sampled_from(sorted(OPERATIONS)), children, children) | st.builds(
        call, st.sampled_from(["max", "min"]), children, children
    )


@COMMON
@given(st.recursive(LEAVES, _combine, max_leaves=12), st.data())
def test_an_expression_has_the_value_of_its_tree(expression: Any, data: st.DataObject) -> None:
    text, value = expression
    symbols = {name: data.draw(st.integers(0, 1000), name) for name in sorted(parse(text).symbols)}
    try:
        expected = value(symbols)
    except ZeroDivisionError:
        with pytest.raises(ArtifactError):
            evaluate(text, symbols)
        return
    try:
        assert evaluate(text, symbols) == expected
    except ArtifactError as error:
        assert "64 bits" in error.what  # noqa: PT017


@COMMON
@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_is_refused(text: str) -> None:
    try:
        symbols = dict.fromkeys(parse(text).symbols, 3)
        evaluate(text, symbols)
    except ArtifactError:
        pass


@COMMON
@given(st.lists(NAMES, unique=True, max_size=4), st.data())
def test_manifests_come_back_as_they_were(manifest: Manifest, names: list[str], data: st.DataObject) -> None:
    extents = st.integers(0, 2**63 - 1) | (st.sampled_from(names).map(quote_symbol) if names else st.nothing())
    tensors = st.lists(
        st.builds(TensorInfo, NAMES, st.sampled_from(["f32", "i64", "bool"]), st.lists(extents, max_size=5).map(tuple)),
        unique_by=lambda tensor: tensor.name,
        max_size=4,
    )
    changed = dataclasses.replace(
        manifest,
        symbols=tuple(SymbolInfo(name, 0, data.draw(st.none() | st.integers(0, 99)), 1) for name in names),
        inputs=tuple(data.draw(tensors)),
        outputs=tuple(data.draw(tensors)),
        memory=dataclasses.replace(manifest.memory, arena=None),
        steps=(),
        slots=(),
        reference=(),
    )
    assert Manifest.from_bytes(changed.to_bytes()) == changed


@COMMON
@given(
    st.dictionaries(
        st.from_regex(r"[a-z0-9ü ]{1,12}(/[a-z0-9]{1,8}){0,2}", fullmatch=True), st.binary(max_size=300), max_size=6
    )
)
def test_members_come_back_as_they_were(manifest: Manifest, members: dict[str, bytes]) -> None:
    file = io.BytesIO()
    write_artifact(file, dataclasses.replace(manifest, reference=()), members)
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in names if name != "manifest.json"} == members
