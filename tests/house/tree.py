"""The project's own files, as the house rules look at them."""

from __future__ import annotations

import ast
import functools
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = "cuvil_edge"
PLUGIN_FOLDERS: Final = (
    "ops",
    "passes/fusions",
    "kernels/templates",
    "remote/facts",
    "report/formats",
    "cli",
)
"""Folders below the package where adding a thing is adding a file with one class in it."""
TABLE_FOLDERS: Final = ("frontends/onnx/bindings",)
"""Folders of tables, one file a subject, which the tests of their reader go through."""
CPP_SUFFIXES: Final = (".h", ".cc", ".inc")


@dataclass(frozen=True)
class Import:
    """An import statement anywhere in a file, also in a function or under TYPE_CHECKING."""

    path: Path
    line: int
    module: str
    is_for_types: bool = False

    def __str__(self) -> str:
        return f"{relative(self.path)}:{self.line} imports {self.module}"


def relative(path: Path) -> str:
    """The path as messages show it."""
    return path.relative_to(ROOT).as_posix()


@functools.cache
def python_files(*folders: str) -> tuple[Path, ...]:
    """All Python files below the folders (from the project's root), sorted; scripts without a suffix too."""
    found: set[Path] = set()
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if "__pycache__" in path.parts or not path.is_file():
                continue
            is_script = path.suffix == "" and path.read_bytes()[:60].startswith(b"#!/usr/bin/env python")
            if path.suffix == ".py" or is_script:
                found.add(path)
    return tuple(sorted(found))


@functools.cache
def cpp_files() -> tuple[Path, ...]:
    """All C++ files of the project and its tests, sorted."""
    paths = [path for folder in ("csrc", "tests/csrc") for path in (ROOT / folder).rglob("*")]
    return tuple(sorted(path for path in paths if path.suffix in CPP_SUFFIXES))


@functools.cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(path: Path) -> Iterator[Import]:
    """Every module that a file imports, with names made absolute; ``from a import b`` gives ``a`` and ``a.b``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    package = parts[:-1]
    tree = parse(path)
    guarded = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    for_types = {id(inner) for node in guarded for part in node.body for inner in ast.walk(part)}
    for node in ast.walk(tree):
        for module in _modules(node, package):
            yield Import(path, getattr(node, "lineno", 0), module, id(node) in for_types)


def _modules(node: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else ()
        module = ".".join((*base, *([node.module] if node.module else [])))
        yield module
        yield from (f"{module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and (name := _module_argument(node)):
        yield name


def _module_argument(node: ast.Call) -> str | None:
    function = node.func
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    first = node.args[0] if node.args else None
    is_import = called in ("import_module", "__import__")
    return first.value if is_import and isinstance(first, ast.Constant) and isinstance(first.value, str) else None


@functools.cache
def tracked_files() -> tuple[str, ...] | None:
    """The files that git tracks, or None outside of a git checkout."""
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return tuple(name for name in done.stdout.decode().split("\0") if name)
