"""Plug-ins: one file is one thing, and adding a file is all there is to adding a thing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from cuvil_edge.board.board import board_names, load_board
from cuvil_edge.target.isa import isa_names, load_isa
from tests.house.tree import PACKAGE, PLUGIN_FOLDERS, ROOT, parse, relative

FILES = [
    path
    for folder in PLUGIN_FOLDERS
    for path in sorted((ROOT / PACKAGE / folder).glob("*.py"))
    if not path.name.startswith("_")
]


def _public_classes(path: Path) -> list[ast.ClassDef]:
    return [node for node in parse(path).body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_plugin_file_has_one_public_class(path: Path) -> None:
    names = [node.name for node in _public_classes(path)]
    assert len(names) == 1, (
        f"{relative(path)} has the public classes {names}: one file is one thing; shared parts go into a file whose "
        "name starts with _"
    )


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_plugins_do_not_import_each_other_by_list(path: Path) -> None:
    package = path.parent.relative_to(ROOT).as_posix().replace("/", ".")
    init = path.parent / "__init__.py"
    if init.is_file():
        text = init.read_text(encoding="utf-8")
        pattern = rf"(from {re.escape(package)}\.{path.stem} |import {re.escape(package)}\.{path.stem}\b)"
        assert not re.search(pattern, text), f"{relative(init)} lists {path.stem}: find plug-ins by scanning the folder"


@pytest.mark.parametrize("name", board_names())
def test_every_board_can_be_loaded(name: str) -> None:
    assert load_board(name).target().name == name


@pytest.mark.parametrize("name", isa_names())
def test_every_instruction_set_can_be_loaded(name: str) -> None:
    assert load_isa(name).name == name
