"""Runs the toolchain: sources to objects (cached, in parallel), objects to the library and the static program."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cuvil_edge.artifact.parts import safe_name
from cuvil_edge.codegen.object_cache import ObjectCache, disk_error
from cuvil_edge.config import Config
from cuvil_edge.errors import CompileError, DiskFullError
from cuvil_edge.paths import data_dir
from cuvil_edge.target.target import Target
from cuvil_edge.target.toolchain import Toolchain, load_toolchain

_TIMEOUT_SECONDS = 900
_NEEDED_BYTES = 4 << 20
"""A failure with less space than this is taken for one of space: few objects are larger."""
_COMMON = ("-fno-exceptions", "-fno-rtti", "-fPIC", "-fvisibility=hidden", "-g0", "-Wall", "-Werror=return-type")
_KERNEL_FLAGS = ("-std=c++20", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
_AGENT_FLAGS = ("-std=c++20", "-Os", "-ffunction-sections", "-fdata-sections")
_AGENT_FOLDERS = ("base", "runtime", "agent")
_KERNEL_FOLDERS = ("abi", "simd", "kernels")


@dataclass(frozen=True)
class Source:
    """One translation unit: its text, the arguments and the folders of ``csrc`` that decide what becomes of it."""

    label: str
    text: str
    language: str
    arguments: tuple[str, ...]
    folders: tuple[str, ...]


class Builder:
    """Builds for one target with one compiler family.

    Args:
        compiler: ``zig``, ``gcc`` or ``clang``.
        progress: called with the number of objects done and the number of all.

    Raises:
        CompileError: the compiler is not installed, with the command that installs it.
    """

    def __init__(
        self,
        target: Target,
        config: Config,
        compiler: str = "zig",
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.target = target
        self.config = config
        self.progress = progress or (lambda done, total: None)
        self.shared = load_toolchain(target.shared_triple, compiler)
        # Kernels and library come from the compiler that was asked for; only zig brings a static C library along.
        self.static = load_toolchain(target.static_triple)
        self.cache = ObjectCache(config.cache_dir / "objects", config.cache_limit_bytes)
        self.environment = dict(os.environ, SOURCE_DATE_EPOCH="0")
        if "HOME" not in os.environ:
            self.environment.setdefault("ZIG_GLOBAL_CACHE_DIR", str(config.cache_dir / "zig"))
        if (reason := self.shared.missing()) is not None:
            raise CompileError(f"no compiler: {reason}", thing=target.name, hint="or choose another with --compiler")

    def kernel_sources(self, sources: Iterable[tuple[str, str]]) -> list[Source]:
        """Kernels by name and text, compiled for exactly the target's CPU."""
        simd = self.target.instruction_set.simd
        arguments = (*self.shared.cpu_arguments(self.target), *_COMMON, *_KERNEL_FLAGS, f"-DCUVIL_SIMD={simd}")
        return [Source(name, text, "c++", arguments, _KERNEL_FOLDERS) for name, text in sources]

    def model_source(self, name: str, text: str) -> Source:
        """The model's own tables, compiled for the architecture's baseline."""
        arguments = ("-std=c11", "-O1", "-fPIC", "-fvisibility=hidden", "-g0")
        return Source(name, text, "c", arguments, ("abi",))

    def objects(self, sources: Sequence[Source], toolchain: Toolchain | None = None) -> list[Path]:
        """Objects of ``sources``, in order; several are compiled at the same time."""
        chain = toolchain or self.shared
        done = 0

        def build(source: Source) -> Path:
            nonlocal done
            path = self.cache.get_or_make(self._key(source, chain), lambda out: self._compile(source, chain, out))
            done += 1
            self.progress(done, len(sources))
            return path

        with ThreadPoolExecutor(self.config.job_count) as pool:
            return list(pool.map(build, sources))

    def link_library(self, objects: Sequence[Path]) -> bytes:
        """A shared library that exports ``cuvil_model_query`` and needs nothing but memcpy and its like."""
        flags = ("-shared", "-nostdlib", "-Wl,--gc-sections", "-Wl,--build-id=none", "-Wl,-soname,model.so", "-s")
        return self._link(self.shared, (*flags, *map(str, objects)))

    def link_program(self, objects: Sequence[Path]) -> bytes:
        """The agent with this model linked in: static, runs on any kernel of the architecture."""
        agent = self.objects([agent_source()], self.static)
        flags = ("-static", "-nostdlib++", "-Wl,--gc-sections", "-Wl,--build-id=none", "-s")
        return self._link(self.static, (*flags, *map(str, objects), *map(str, agent)))

    def _key(self, source: Source, toolchain: Toolchain) -> str:
        digest = hashlib.sha256()
        for part in (*toolchain.command[1:], compiler_version(toolchain), *source.arguments, source.language):
            digest.update(part.encode() + b"\0")
        digest.update(tree_digest(source.folders))
        digest.update(source.text.encode())
        return digest.hexdigest()

    def _compile(self, source: Source, toolchain: Toolchain, output: Path) -> None:
        suffix = {"c": ".c", "c++": ".cc"}[source.language]
        with tempfile.TemporaryDirectory(prefix="cuvil-") as folder:
            path = Path(folder) / f"{safe_name(source.label)[:80]}{suffix}"
            self._write(path, source.text)
            include = ("-I", str(data_dir("csrc")))
            command = (*toolchain.command, "-x", source.language, *source.arguments, *include)
            self._run((*command, "-c", str(path), "-o", str(output)), source.label, output.parent)
            if output.stat().st_size == 0:
                raise CompileError("the compiler wrote an empty object", thing=source.label, found=command[0])

    def _link(self, toolchain: Toolchain, arguments: Sequence[str]) -> bytes:
        with tempfile.TemporaryDirectory(prefix="cuvil-") as folder:
            output = Path(folder) / "output"
            command = (*toolchain.command, *arguments, "-o", str(output))
            self._run(command, f"link for {toolchain.triple}", output.parent)
            return output.read_bytes()

    @staticmethod
    def _write(path: Path, text: str) -> None:
        try:
            path.write_text(text)
        except OSError as error:
            raise disk_error(error, path.parent) from error

    def _run(self, command: Sequence[str], label: str, folder: Path) -> None:
        try:
            result = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_SECONDS,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CompileError(f"the compiler took longer than {_TIMEOUT_SECONDS} s", thing=label) from error
        except OSError as error:
            raise CompileError("cannot run the compiler", thing=command[0], found=str(error)) from error
        if result.returncode == 0:
            return
        message = result.stderr.strip() or result.stdout.strip()
        # Some compilers are ended by a signal, without a word, when they cannot write.
        full = next((each for each in (folder, Path(tempfile.gettempdir())) if _is_full(each)), None)
        if full is not None or "No space left" in message or "NoSpaceLeft" in message:
            raise DiskFullError(
                "no space left while compiling",
                thing=str(full or folder),
                hint="free some space, or set CUVIL_CACHE_DIR to a folder on another disk",
                details=tuple(message.splitlines()[:5]),
            )
        raise CompileError(
            f"{Path(command[0]).name} failed with exit status {result.returncode}",
            thing=label,
            details=tuple(message.splitlines()[:20]),
        )


def _is_full(folder: Path) -> bool:
    try:
        status = os.statvfs(folder)
    except OSError:
        return False
    return status.f_bavail * status.f_frsize < _NEEDED_BYTES or (status.f_files > 0 and status.f_favail == 0)


@cache
def tree_digest(folders: tuple[str, ...]) -> bytes:
    """Hash of every file in these folders of ``csrc``: all that a source which includes from them depends on."""
    digest = hashlib.sha256()
    root = data_dir("csrc")
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*") if path.is_file()):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.digest()


def agent_source() -> Source:
    """The agent as one translation unit: the runtime and the program on a device; nothing that loads libraries."""
    root = data_dir("csrc")
    paths = [path.relative_to(root) for folder in _AGENT_FOLDERS for path in sorted((root / folder).glob("*.cc"))]
    text = "".join(f'#include "{path}"\n' for path in paths)
    return Source("agent", text, "c++", (*_COMMON, *_AGENT_FLAGS), ("abi", *_AGENT_FOLDERS))


@cache
def compiler_version(toolchain: Toolchain) -> str:
    """What the compiler says of its own version; part of every cache key."""
    if toolchain.package is not None:
        from importlib.metadata import version

        return version(toolchain.package)
    result = subprocess.run(
        (toolchain.command[0], "--version"), capture_output=True, text=True, timeout=60, check=False
    )
    return result.stdout.splitlines()[0] if result.stdout else ""
