"""Names and words: one word for one thing, no promises in comments, nothing about the machine of a developer."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, ROOT, cpp_files, parse, python_files, relative

# Words that say nothing about what a thing does; the terms of the project are in HACKING.md.
VAGUE = {"engine", "manager", "helper", "helpers", "util", "utils", "handler", "processor", "context"}
ALLOWED = {"InferenceContext"}
# Spelt in pieces, so that this file does not break its own rules.
UNFINISHED = re.compile(
    "|".join((r"\bTO" + r"DO\b", r"\bFIX" + r"ME\b", "NotImplemented" + "Error", r"[Ss]implified ver" + "sion"))
)
MACHINE = re.compile("|".join((r"/wo" + r"rk/(main|shared)", r"/opt/d" + r"ev\b", r"/home/(?!(pi|user)\b)\w")))
NUMBERED = re.compile(r"(?i)\bissue" + r"s? #?\d")
PYTHON = python_files("cuvil_edge", "scripts", "tests")
TEXTS = tuple(
    path
    for path in (
        *PYTHON,
        *cpp_files(),
        *(path for folder in ("boards", "targets", "csrc") for path in sorted((ROOT / folder).rglob("*"))),
        *(path for path in sorted(ROOT.iterdir()) if path.suffix in (".md", ".toml", ".txt")),
    )
    if path.is_file() and path.suffix not in (".so", ".o", ".a", ".pyc", ".png")
)


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+", name)}


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_modules_and_classes_say_what_they_do(path: Path) -> None:
    vague = _words(path.stem) & VAGUE
    assert not vague, f"{relative(path)}: name the file after what is in it, not {vague}"
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ClassDef) and node.name not in ALLOWED:
            vague = _words(node.name) & VAGUE
            assert not vague, f"{relative(path)}:{node.lineno} {node.name}: say what it is, not {vague}"


@pytest.mark.parametrize("path", cpp_files(), ids=relative)
def test_cpp_types_say_what_they_are(path: Path) -> None:
    vague = _words(path.stem) & VAGUE
    assert not vague, f"{relative(path)}: name the file after what is in it, not {vague}"
    for match in re.finditer(r"^\s*(?:class|struct)\s+(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
        assert not _words(match[1]) & VAGUE, f"{relative(path)}: {match[1]}: say what it is"


@pytest.mark.parametrize("path", TEXTS, ids=relative)
def test_nothing_is_left_unfinished_or_tied_to_a_machine(path: Path) -> None:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for pattern, remedy in (
            (UNFINISHED, "finish it, or leave it out"),
            (MACHINE, "use a path relative to the project, or a temporary folder"),
            (NUMBERED, "say the reason itself"),
        ):
            assert not pattern.search(line), f"{relative(path)}:{number}: {line.strip()[:100]} ({remedy})"


@pytest.mark.parametrize("path", python_files("cuvil_edge", "scripts"), ids=relative)
def test_every_file_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(parse(path)), f"{relative(path)}: begin with one sentence about what is in it"


def test_python_files_are_named_like_modules() -> None:
    for path in python_files(PACKAGE):
        assert re.fullmatch(r"[a-z_][a-z0-9_]*", path.stem), f"{relative(path)}: small letters, digits and _"
