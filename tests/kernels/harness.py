"""Runs kernels as the compiler would lower them and compares with the operations' references.

A case is a node (an operation and its inputs). All kernels of many cases are built into one program (``driver.cc``),
for an instruction set, natively, with sanitizers, or for another architecture under an emulator.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from cuvil_edge.errors import CuvilError
from cuvil_edge.ir.builder import GraphBuilder
from cuvil_edge.ir.dim import Dim, Extent, Symbol, evaluate
from cuvil_edge.ir.dtype import DType
from cuvil_edge.ir.graph import Graph, Node, Value
from cuvil_edge.ir.op import Op, Sample
from cuvil_edge.kernels.catalogue import candidates
from cuvil_edge.kernels.kernel import KernelCall, Operand
from cuvil_edge.kernels.selection import select
from cuvil_edge.paths import data_dir
from cuvil_edge.registry import load_plugins
from cuvil_edge.target.isa import load_isa
from cuvil_edge.target.target import Target, host_target

CSRC = data_dir("csrc")
DRIVER = Path(__file__).with_name("driver.cc")
UNITS = 32
SPLITS = 3
_ISA_OF_SIMD = {"scalar": "scalar", "avx2": "x86_64_avx2", "avx512": "x86_64_avx512", "neon": "arm64_neondot"}
BASE_FLAGS = ("-std=c++20", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off", "-Wall", "-Wextra")


class KernelTestFailure(AssertionError):
    """A kernel crashed, refused its data or gave a wrong answer."""


@dataclass
class Case:
    """A lowered node with the arrays it is run on."""

    name: str
    calls: list[KernelCall]
    node: Node
    arrays: dict[Value, np.ndarray]
    symbols: dict[str, int]
    expected: list[np.ndarray]
    relative_tolerance: float = 2e-5
    expected_status: int = 0
    templates: str = ""


@dataclass(frozen=True)
class Build:
    """How to build and run the driver."""

    simd: str
    command: tuple[str, ...]
    flags: tuple[str, ...]
    runner: tuple[str, ...] = ()
    link: tuple[str, ...] = field(default=("-lm",))


# --- cases ---


def samples_of(names: Iterable[str] | None = None) -> list[tuple[str, Sample]]:
    """Every sample of the operations that have kernels, with a name for it."""
    found = []
    for name, op in load_plugins("cuvil_edge.ops", Op).items():
        if (names is None or name in names) and candidates(name):
            found += [(f"{name}[{i}:{sample.name}]", sample) for i, sample in enumerate(op.samples())]
    return found


def build_node(sample: Sample, symbolic: bool) -> tuple[Node, dict[Value, np.ndarray], dict[str, int]]:
    """The sample as a node of a new graph.

    With ``symbolic`` there is a symbol for each extent of its run-time inputs, unless it is 1 or the operation itself
    names it.
    """
    graph = Graph("test")
    builder = GraphBuilder(graph, "node")
    arrays: dict[Value, np.ndarray] = {}
    symbols: dict[str, int] = {}
    values: list[Value | None] = []
    named = (1, *getattr(sample.op, "shape", ()))
    for index, array in enumerate(sample.inputs):
        if array is None:
            values.append(None)
        elif index in sample.constant:
            values.append(builder.constant(np.asarray(array)))
        else:
            shape: list[Extent] = []
            for extent in np.shape(array):
                name = f"n{extent}"
                shape.append(Dim.of(Symbol(name, min=0)) if symbolic and extent not in named else extent)
                symbols[name] = extent
            values.append(builder.input(f"input{index}", DType.of(np.asarray(array)), tuple(shape)))
            arrays[values[-1]] = np.asarray(array)  # type: ignore[index]
    builder.add(sample.op, values, name="node")
    return graph.nodes[-1], arrays, symbols


def make_case(
    name: str, sample: Sample, target: Target, *, symbolic: bool = False, expected: list[np.ndarray] | None = None
) -> Case | str:
    """The sample lowered for a target, or why the kernels refuse it; by default the reference says what is expected."""
    try:
        node, arrays, symbols = build_node(sample, symbolic)
        template, _ = select(node, target)
        calls = template.lower(node, target)
    except CuvilError as error:
        return str(error)
    if expected is None:
        with np.errstate(all="ignore"):
            results = sample.op.reference(*sample.inputs)
        expected = [np.asarray(result) for result in (results if isinstance(results, tuple) else (results,))]
    return Case(name, calls, node, arrays, symbols, expected, templates=type(template).__module__.rsplit(".", 1)[-1])


# --- builds ---


def cache_dir() -> Path:
    """Where built drivers are kept between runs."""
    path = Path(tempfile.gettempdir()) / f"cuvil-kernel-tests-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


@cache
def native_build(isa: str, sanitize: bool = False) -> Build | str:
    """A build for this machine, or why it cannot run that instruction set."""
    try:
        target = host_target(isa)
    except CuvilError as error:
        return str(error)
    compiler = "gcc" if shutil.which("g++") else "zig"
    command = ("g++",) if compiler == "gcc" else (sys.executable, "-m", "ziglang", "c++")
    flags = (*target.cpu_flags.arguments(compiler), *BASE_FLAGS)
    if sanitize:
        flags += ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    else:
        flags += ("-O3",)
    return Build(load_isa(isa).simd, command, flags)


@cache
def arm64_build() -> Build | str:
    """A static program for 64-bit Arm, run by the user-mode emulator."""
    emulator = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if emulator is None:
        return "qemu-aarch64 is not installed"
    command = (sys.executable, "-m", "ziglang", "c++", "-target", "aarch64-linux-musl", "-mcpu=cortex_a76", "-static")
    return Build("neon", command, (*BASE_FLAGS, "-O2"), (emulator, "-cpu", "max"))


@cache
def _included(path: Path) -> frozenset[Path]:
    """The headers that a file includes, directly or not; of the vector interface all, since a macro chooses."""
    found = {path}
    for name in re.findall(r'^#include "(.*)"', path.read_text(), re.MULTILINE):
        found |= _included(CSRC / name)
    return frozenset(found)


def _digest(*parts: str) -> str:
    """Of some texts, and of every header that they include."""
    digest = hashlib.sha256("\0".join(parts).encode())
    headers = set((CSRC / "simd").glob("*.h"))
    for part in parts:
        for name in re.findall(r'^#include "(.*)"', part, re.MULTILINE):
            headers |= _included(CSRC / name)
    for path in sorted(headers):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def _unit(sources: Sequence[str]) -> str:
    """Many kernels in one translation unit: their includes first, then each in a namespace of its own."""
    includes = dict.fromkeys(line for source in sources for line in re.findall(r"^#include .*$", source, re.MULTILINE))
    parts = [*includes, ""]
    for index, source in enumerate(sources):
        body = re.sub(r"^#include .*$\n", "", source, flags=re.MULTILINE)
        parts.append(f"namespace unit_{index} {{\n{body}\n}}\n")
    return "\n".join(parts)


def _compile(build: Build, text: str, suffix: str = ".o", extra: tuple[str, ...] = ("-c",)) -> Path:
    output = cache_dir() / (_digest(*build.command, *build.flags, build.simd, text, *extra) + suffix)
    if output.exists():
        return output
    with tempfile.TemporaryDirectory(dir=cache_dir()) as folder:
        source, partial = Path(folder) / "unit.cc", Path(folder) / "output"
        source.write_text(text)
        defines = (f"-DCUVIL_SIMD={build.simd}", f"-I{CSRC}")
        command = [*build.command, *build.flags, *defines, str(source), *extra, "-o", str(partial)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        if done.returncode != 0 or "warning:" in done.stderr:
            lines = done.stderr.splitlines()
            first = next((i for i, line in enumerate(lines) if "error:" in line or "warning:" in line), 0)
            raise KernelTestFailure("\n".join([" ".join(command), *lines[first : first + 25]]))
        partial.rename(output)
    return output


def build_driver(build: Build, cases: Sequence[Case]) -> tuple[Path, dict[str, int]]:
    """The program with all kernels of the cases, and the index of each kernel."""
    kernels = {call.kernel.name: call.kernel.source for case in cases for call in case.calls}
    names = sorted(kernels)
    units: dict[int, list[str]] = {}  # by hash, so that a changed kernel rebuilds one unit
    for name in names:
        units.setdefault(int(name[-8:], 16) % min(UNITS, len(names) // 4 + 1), []).append(name)
    texts = [_unit([kernels[name] for name in unit]) for unit in units.values()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda text: _compile(build, text), texts))
    declarations = "\n".join(f'extern "C" __typeof__(*cuvil_kernel_fn()) {name};' for name in names)
    table = f'extern "C" const cuvil_kernel_fn kKernels[] = {{{", ".join([*names, "nullptr"])}}};'
    text = f'#include "abi/cuvil_abi.h"\n{declarations}\n{table}\n'
    objects.append(_compile(build, DRIVER.read_text()))
    program = _compile(build, text, "", (*map(str, objects), *build.link))
    return program, {name: index for index, name in enumerate(names)}


# --- runs ---


def _ints(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def _pack_case(case: Case, kernels: dict[str, int]) -> bytes:
    buffers: list[bytes] = []
    index: dict[object, int] = {}

    def place(key: object, array: np.ndarray | None, bytes_: int, element_bytes: int) -> int:
        if key not in index:
            index[key] = len(buffers)
            content = b"" if array is None else np.ascontiguousarray(array).tobytes()
            buffers.append(_ints(bytes_, element_bytes, array is None) + content)
        return index[key]

    def operand(item: Operand) -> tuple[int, int]:
        offset = evaluate(item.offset_bytes, case.symbols)
        if item.packed is not None:
            return place(id(item.packed), item.packed, item.packed.nbytes, item.packed.itemsize), offset
        assert item.value is not None
        return place_value(item.value), offset

    def place_value(value: Value) -> int:
        array = value.constant if value.constant is not None else case.arrays.get(value)
        return place(value, array, evaluate(value.type.bytes, case.symbols), value.type.dtype.item_bytes)

    calls = [len(case.calls)]
    for value in case.node.outputs:
        place_value(value)
    for call in case.calls:
        calls += [kernels[call.kernel.name], len(call.operands)]
        for item in call.operands:
            calls += operand(item)
        extents = [evaluate(extent, case.symbols) for extent in call.extents]
        calls += [len(extents), *extents]
        calls += [evaluate(call.work_items, case.symbols), evaluate(call.scratch_bytes, case.symbols)]
    return _ints(len(buffers)) + b"".join(buffers) + _ints(*calls)


def run_cases(build: Build, cases: Sequence[Case], repeats: int = 0) -> tuple[list[str], list[int]]:
    """Build and run all cases; returns every failure as text, and the best time in ns of each case if repeated."""
    if not cases:
        return [], []
    program, kernels = build_driver(build, cases)
    with tempfile.TemporaryDirectory(dir=cache_dir()) as folder:
        input_path, output_path = Path(folder) / "cases", Path(folder) / "results"
        input_path.write_bytes(_ints(len(cases)) + b"".join(_pack_case(case, kernels) for case in cases))
        command = [*build.runner, str(program), str(input_path), str(output_path), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        if done.returncode != 0:
            started = re.findall(r"^case (\d+)$", done.stderr, re.MULTILINE)
            case = cases[int(started[-1])] if started else None
            noise = re.sub(r"^case \d+\n", "", done.stderr, flags=re.MULTILINE)
            return [f"{case.name if case else 'driver'}: exit status {done.returncode}\n{noise[:3000]}"], []
        data = memoryview(output_path.read_bytes())
    failures, position = [], 0
    for case in cases:
        problems, position = _check_case(case, data, position)
        failures += problems
    return failures, [int(line) for line in done.stdout.split()]


def _check_case(case: Case, data: memoryview, position: int) -> tuple[list[str], int]:
    problems = []
    for split in range(1, SPLITS + 1):
        (status,) = struct.unpack_from("<q", data, position)
        position += 8
        where = f"{case.name} ({case.templates}, {split} parts)"
        if status != case.expected_status:
            meaning = "wrote outside its buffers" if status == -1 else f"status {status}"
            problems.append(f"{where}: {meaning}, expected status {case.expected_status}")
        for number, value in enumerate(case.node.outputs):
            shape = [evaluate(extent, case.symbols) for extent in value.type.shape]
            size = evaluate(value.type.bytes, case.symbols)
            got = np.frombuffer(data[position : position + size], value.type.dtype.numpy).reshape(shape)
            position += size
            if case.expected_status == 0 and number < len(case.expected):
                problem = difference(got, case.expected[number], case.relative_tolerance)
                problems += [f"{where} output {number}: {problem}"] if problem else []
    return problems, position


def difference(got: np.ndarray, want: np.ndarray, relative_tolerance: float) -> str | None:
    """What is wrong with an output, or None. Integers and bools must be equal, NaN equals NaN."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"is {got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    if got.size == 0:
        return None
    if got.dtype.kind != "f":
        wrong = got.view(np.uint8) != want.view(np.uint8) if got.dtype == bool else got != want
    else:
        relative = relative_tolerance * {2: 100, 4: 1, 8: 1e-8}[got.dtype.itemsize]
        with np.errstate(all="ignore"):
            finite = np.isfinite(want)
            largest = np.abs(want[finite]).max(initial=0)
            close = np.abs(got.astype(np.float64) - want) <= relative * np.abs(want) + relative / 16 * largest
            same = (got == want) | (np.isnan(got) & np.isnan(want))
        wrong = ~np.where(finite, close & np.isfinite(got), same)
    if not wrong.any():
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {got.size} wrong; at {first}: {got[first]!r}, expected {want[first]!r}"


def target_of(build: Build) -> Target:
    """A target of the build's instruction set."""
    return target_for(_ISA_OF_SIMD[build.simd])


def lowered(
    samples: Iterable[tuple[str, Sample]], build: Build, *, symbolic: bool = False
) -> tuple[list[Case], list[str]]:
    """The samples as cases, and a line for each one that the kernels refuse."""
    made = [(name, make_case(name, sample, target_of(build), symbolic=symbolic)) for name, sample in samples]
    cases = [case for _, case in made if isinstance(case, Case)]
    return cases, [f"{name}: {case}" for name, case in made if isinstance(case, str)]


def uses_vectors(sample: Sample) -> bool:
    """True if a kernel for the sample can depend on the instruction set: it touches f32."""
    return any(array is not None and np.asarray(array).dtype == np.float32 for array in sample.inputs)


@cache
def target_for(isa: str) -> Target:
    """A target of an instruction set with the caches of this machine."""
    host = host_target("scalar")
    set_ = load_isa(isa)
    arch = host.arch if set_.arch == "any" else set_.arch
    return Target("test", None, isa, arch, set_.cpu[arch], set_.required_features, host.clusters)
