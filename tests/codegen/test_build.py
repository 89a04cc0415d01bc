"""Risks: an object is taken for another's, a broken build leaves a trap, the user does not learn what went wrong."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cuvil_edge.codegen import build
from cuvil_edge.codegen.build import Builder, Source, agent_source, compiler_version, tree_digest
from cuvil_edge.config import Config
from cuvil_edge.errors import CompileError, DiskFullError
from cuvil_edge.paths import data_dir
from cuvil_edge.target.target import host_target

C = Source("unit", "int x;\n", "c", ("-O1",), ("abi",))
RECORD = """
import pathlib, sys
output = sys.argv[sys.argv.index("-o") + 1]
source = pathlib.Path(sys.argv[sys.argv.index("-c") + 1])
log = pathlib.Path(__file__).with_suffix(".log")
log.open("a").write(source.name + " " + " ".join(sys.argv[1:]) + "\\n")
pathlib.Path(output).write_bytes(source.read_bytes())
"""


@pytest.fixture
def builder(config: Config, tmp_path: Path) -> Callable[[str], Builder]:
    """A function that makes a builder whose compiler is a Python program."""

    def make(program: str) -> Builder:
        script = tmp_path / "compiler.py"
        script.write_text(f"#!{sys.executable}\n{program}")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        made = Builder(host_target(), config)
        made.shared = made.static = replace(made.shared, command=(str(script),))
        return made

    return make


def compiled(builder: Builder) -> list[str]:
    """A line for each run of the compiler that records."""
    log = Path(builder.shared.command[0]).with_suffix(".log")
    return log.read_text().splitlines() if log.exists() else []


def test_objects_come_in_order_and_are_made_once(builder: Callable[[str], Builder]) -> None:
    made, progress = builder(RECORD), []
    made.progress = lambda done, total: progress.append((done, total))
    sources = [replace(C, text=f"int x{index};\n") for index in range(5)]
    assert [path.read_text() for path in made.objects(sources)] == [source.text for source in sources]
    assert sorted(progress) == [(index + 1, 5) for index in range(5)]
    assert len(compiled(made)) == 5
    made.objects([*sources, replace(C, label="other name", text=sources[0].text)])
    assert len(compiled(made)) == 5, "the label decides nothing"


@pytest.mark.parametrize(
    "other",
    [
        replace(C, text="int y;\n"),
        replace(C, arguments=("-O2",)),
        replace(C, arguments=()),
        replace(C, language="c++"),
        replace(C, folders=("abi", "simd")),
    ],
)
def test_all_that_decides_the_bytes_is_in_the_key(builder: Callable[[str], Builder], other: Source) -> None:
    made = builder(RECORD)
    assert made._key(C, made.shared) == made._key(replace(C, label="b"), made.shared)
    assert made._key(C, made.shared) != made._key(other, made.shared)


def test_arguments_do_not_run_together_in_the_key(builder: Callable[[str], Builder]) -> None:
    made = builder(RECORD)
    one, other = replace(C, arguments=("-DA", "-DB")), replace(C, arguments=("-DA-DB",))
    assert made._key(one, made.shared) != made._key(other, made.shared)


def test_another_compiler_or_triple_is_another_key(builder: Callable[[str], Builder]) -> None:
    made = builder(RECORD)
    other = replace(made.shared, command=(*made.shared.command, "-target", "another"))
    assert made._key(C, made.shared) != made._key(C, other)


def test_a_changed_header_is_another_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    header = tmp_path / "csrc" / "kernels" / "conv" / "conv.h"
    header.parent.mkdir(parents=True)
    monkeypatch.setattr(build, "data_dir", lambda name: tmp_path / name)
    digests = []
    for text in ("int a;", "int b;", "int a;"):
        header.write_text(text)
        tree_digest.cache_clear()
        digests.append(tree_digest(("kernels",)))
    header.rename(header.with_name("renamed.h"))
    tree_digest.cache_clear()
    digests.append(tree_digest(("kernels",)))
    tree_digest.cache_clear()
    assert digests[0] == digests[2]
    assert len(set(digests)) == 3


def test_kernels_are_compiled_for_the_targets_cpu_and_tables_for_every_one(builder: Callable[[str], Builder]) -> None:
    made = builder(RECORD)
    [kernel] = made.kernel_sources([("name", "text")])
    cpu = made.shared.cpu_arguments(made.target)
    assert set(cpu) <= set(kernel.arguments)
    assert f"-DCUVIL_SIMD={made.target.instruction_set.simd}" in kernel.arguments
    assert "-ffp-contract=off" in kernel.arguments, "answers may not depend on what a compiler contracts"
    assert not set(cpu) & set(made.model_source("m", "").arguments)
    assert not set(cpu) & set(agent_source().arguments)


def test_the_agent_is_all_of_the_runtime_and_loads_no_libraries() -> None:
    source = agent_source()
    included = [line.split('"')[1] for line in source.text.splitlines()]
    csrc = data_dir("csrc")
    for folder in ("base", "runtime", "agent"):
        assert {str(path.relative_to(csrc)) for path in (csrc / folder).glob("*.cc")} <= set(included)
        assert folder in source.folders
    assert not [name for name in included if "dlopen(" in (csrc / name).read_text()]


def failed(builder: Builder) -> CompileError:
    with pytest.raises(CompileError) as caught:
        builder.objects([C])
    left = [path for path in builder.config.cache_dir.rglob("*") if path.is_file()]
    assert left == [], "a failed build must not be found in the cache"
    return caught.value


def test_a_failure_shows_the_first_lines_of_what_the_compiler_said(builder: Callable[[str], Builder]) -> None:
    program = "import sys; print('unit.c:1: error: no', *range(50), sep='\\n', file=sys.stderr); sys.exit(3)"
    error = failed(builder(program))
    assert error.thing == "unit"
    assert "status 3" in error.what
    assert error.details[0] == "unit.c:1: error: no"
    assert len(error.details) == 20


def test_an_object_without_bytes_is_no_object(builder: Callable[[str], Builder]) -> None:
    assert "empty object" in failed(builder("")).what


def test_a_compiler_that_is_gone_or_hangs_is_told(
    builder: Callable[[str], Builder], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = builder("import time; time.sleep(60)")
    compiler_version(made.shared)
    monkeypatch.setattr(build, "_TIMEOUT_SECONDS", 0.2)
    assert "took longer" in failed(made).what
    Path(made.shared.command[0]).unlink()
    error = failed(made)
    assert error.what == "cannot run the compiler"
    assert "compiler.py" in (error.thing or "")


@pytest.mark.parametrize("message", ["fatal error: No space left on device", "error: NoSpaceLeft"])
def test_a_full_disk_is_told_as_such(builder: Callable[[str], Builder], message: str) -> None:
    made = builder(f"import sys; sys.exit({message!r})")
    with pytest.raises(DiskFullError):
        made.objects([C])


def test_output_that_is_no_text_is_no_traceback(builder: Callable[[str], Builder]) -> None:
    error = failed(builder("import sys; sys.stderr.buffer.write(bytes(range(128, 256))); sys.exit(1)"))
    assert error.details


@pytest.mark.parametrize("label", ["x" * 300, "\N{SNOWMAN}" * 100, "a/b", "../../up", "-o", "a b;c", ""])
def test_any_name_of_a_model_can_be_compiled(builder: Callable[[str], Builder], label: str) -> None:
    made = builder(RECORD)
    made.objects([made.model_source(f"model_{label}", C.text)])
    assert len(compiled(made)) == 1


def test_links_pass_the_objects_in_order(builder: Callable[[str], Builder]) -> None:
    made = builder("import sys; open(sys.argv[sys.argv.index('-o') + 1], 'w').write(' '.join(sys.argv[1:]))")
    text = made.link_library([Path("one.o"), Path("two.o")]).decode()
    assert "-shared" in text
    assert "one.o two.o" in text
    assert "-nostdlib" in text, "the library must not need a C++ library on the device"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_static_programs_are_zigs_whoever_builds_the_kernels(
    compiler: str, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build.Toolchain, "missing", lambda self: None)
    made = Builder(host_target(), config, compiler)
    assert (made.shared.compiler, made.static.compiler) == (compiler, "zig")
