"""Sizes: a file or a function that grows beyond the hard limit is two things."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.house.tree import cpp_files, parse, python_files, relative

FILE_LINES = 600
FUNCTION_LINES = 60
PYTHON = python_files("cuvil_edge", "scripts", "tests")
CPP = cpp_files()
_NO_FUNCTION = re.compile(r"\s*(namespace|struct|class|enum|union|extern|template|static_assert|#)\b|.*=\s*\{$")


def _line_count(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


@pytest.mark.parametrize("path", [*PYTHON, *CPP], ids=relative)
def test_files_stay_small(path: Path) -> None:
    lines = _line_count(path)
    assert lines <= FILE_LINES, (
        f"{relative(path)} has {lines} lines, at most {FILE_LINES}: move one of its subjects out"
    )


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_python_functions_stay_small(path: Path) -> None:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= FUNCTION_LINES, (
                f"{relative(path)}:{node.lineno} {node.name} has {lines} lines, at most {FUNCTION_LINES}: "
                "name its steps and make them functions"
            )


@pytest.mark.parametrize("path", [path for path in CPP if relative(path).startswith("csrc/")], ids=relative)
def test_cpp_functions_stay_small(path: Path) -> None:
    start = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        opens = bool(re.match(r"[A-Za-z_~\[]", line)) and line.endswith("{") and not _NO_FUNCTION.match(line)
        if opens:
            start = number
        elif line.startswith("}"):
            if start is not None and number - start + 1 > FUNCTION_LINES:
                pytest.fail(
                    f"{relative(path)}:{start} has a function of {number - start + 1} lines, at most {FUNCTION_LINES}"
                )
            start = None
