"""Arguments that several subcommands have, and what their texts mean."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cuvil_edge.errors import UsageError

DimBound = int | tuple[int, ...]
_RANGE = re.compile(r"([0-9]+)\.\.([0-9]+)(?::([0-9]+))?")
_CPU_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_MOST_CPUS = 4096
_SHAPE_FORM = "NAME=1x3x224x224"
_DIM_FORM = "NAME=4, NAME=32..1024 or NAME=32..1024:32 (lowest..highest:multiple of)"


def add_model(parser: argparse.ArgumentParser, help_text: str) -> None:
    """The positional MODEL."""
    parser.add_argument("model", metavar="MODEL", type=Path, help=help_text)


def add_target(parser: argparse.ArgumentParser, *, with_board: bool = True, with_compiler: bool = True) -> None:
    """What to compile for, and how."""
    group = parser.add_argument_group("compilation")
    if with_board:
        group.add_argument(
            "--board", "--target", metavar="NAME", help="the type of hardware ('cuvil-edge boards'); default: host"
        )
    group.add_argument("--isa", metavar="NAME", help="an instruction set other than the board's own, for comparison")
    group.add_argument(
        "--dim",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"fix or bound a symbolic dimension: {_DIM_FORM}; can be repeated",
    )
    if with_compiler:
        group.add_argument("--precision", metavar="NAME", default="f32", help="default: f32")
        group.add_argument(
            "--compiler", choices=("zig", "gcc", "clang"), default="zig", help="builds generated code; default: zig"
        )


def add_measurement(parser: argparse.ArgumentParser) -> None:
    """How to measure."""
    group = parser.add_argument_group("measurement")
    group.add_argument("--runs", type=count("runs", 1, 1_000_000), metavar="N", default=20, help="default: 20")
    group.add_argument(
        "--warmup", type=count("warm-up runs", 0, 1_000_000), metavar="N", default=3, help="runs before; default: 3"
    )
    group.add_argument(
        "--max-seconds",
        type=count("seconds", 1, 86_400),
        metavar="S",
        default=60,
        help="fewer runs where they would take longer than this; default: 60",
    )
    add_threads(group)


def add_threads(group: Any) -> None:
    """Threads and the CPUs for them."""
    group.add_argument(
        "--threads",
        type=count("threads", 1, 1024),
        metavar="N",
        help="default: the CPUs that the process may use and that are as fast as the fastest",
    )
    group.add_argument("--cpus", type=parse_cpus, metavar="LIST", help="CPUs to run on, such as 4-7 or 0,2")


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """The inputs of a run, from files or made up."""
    group = parser.add_argument_group("inputs")
    group.add_argument(
        "--input",
        metavar="NAME=FILE",
        action="append",
        default=[],
        help="a .npy file, or a .npz file with arrays by name (NAME= may be left out); can be repeated",
    )
    group.add_argument(
        "--shape",
        metavar="NAME=1x3x224x224",
        action="append",
        default=[],
        help="make up random values of this shape for the input; can be repeated",
    )
    group.add_argument(
        "--seed", type=count("seed", 0, 2**32 - 1), metavar="N", default=0, help="of random values; default: 0"
    )


def count(what: str, least: int, most: int) -> Callable[[str], int]:
    """A parser of whole numbers in ``least..most``."""

    def parse(text: str) -> int:
        value = int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else None
        if value is None or not least <= value <= most:
            raise argparse.ArgumentTypeError(f"expected a number of {what} from {least} to {most}, found {text!r}")
        return value

    return parse


def seconds(text: str) -> float:
    """A parser of times above 0 and up to a day."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86_400:
        raise argparse.ArgumentTypeError(f"expected seconds above 0 and at most 86400, found {text!r}")
    return value


def parse_cpus(text: str) -> tuple[int, ...]:
    """``4-7`` or ``0,2,4-5`` as sorted CPU numbers."""
    numbers: set[int] = set()
    for part in text.split(","):
        match = _CPU_RANGE.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < _MOST_CPUS:
            raise argparse.ArgumentTypeError(f"expected CPUs such as 4-7 or 0,2, found {text!r}")
        numbers |= set(range(first, last + 1))
    return tuple(sorted(numbers))


def cpus_text(cpus: Iterable[int]) -> str:
    """The shortest list that ``parse_cpus`` reads back: ``0,4-7``."""
    runs: list[list[int]] = []
    for number in sorted(cpus):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def parse_dims(texts: Iterable[str]) -> dict[str, DimBound]:
    """The values of ``--dim``.

    Raises:
        UsageError: not of the form ``NAME=VALUE``, an empty range, or a name given twice.
    """
    dims: dict[str, DimBound] = {}
    for text in texts:
        name, value = _named("--dim", text, dims, _DIM_FORM)
        dims[name] = _bound(text, value)
    return dims


def _bound(text: str, value: str) -> DimBound:
    if re.fullmatch(r"[0-9]{1,18}", value) and int(value) > 0:
        return int(value)
    match = _RANGE.fullmatch(value)
    if match is None:
        raise UsageError("this is not a dimension", thing=f"--dim {text}", expected=_DIM_FORM)
    low, high, multiple = int(match[1]), int(match[2]), int(match[3] or 1)
    if not 1 <= low <= high < 1 << 60 or multiple < 1 or high // multiple * multiple < low:
        raise UsageError("no value lies in this range", thing=f"--dim {text}", expected=_DIM_FORM)
    return (low, high, multiple)


def parse_shapes(texts: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """The values of ``--shape``; ``scalar`` is the shape of rank 0. Raises UsageError."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, value = _named("--shape", text, shapes, _SHAPE_FORM)
        if not re.fullmatch(r"[0-9]{1,18}(x[0-9]{1,18})*|scalar", value):
            raise UsageError("this is not a shape", thing=f"--shape {text}", expected=_SHAPE_FORM)
        shapes[name] = () if value == "scalar" else tuple(int(extent) for extent in value.split("x"))
    return shapes


def _named(flag: str, text: str, seen: dict[str, Any], form: str) -> tuple[str, str]:
    name, equals, value = text.rpartition("=")
    if not equals or not name:
        raise UsageError("there is no name and value", thing=f"{flag} {text}", expected=form)
    if name in seen:
        raise UsageError("the name is given twice", thing=f"{flag} {text}")
    return name, value
