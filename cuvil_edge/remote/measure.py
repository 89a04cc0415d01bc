"""Measuring a release on a device: raw times from the agent, or executed instructions from an emulator."""

from __future__ import annotations

import contextlib
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuvil_edge.artifact.expression import quote_symbol
from cuvil_edge.artifact.manifest import MANIFEST_NAME, Manifest
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.config import Config
from cuvil_edge.errors import CompileError, CuvilError, InputError, RemoteCommandError, UnsupportedError, UsageError
from cuvil_edge.profile.records import INSTRUCTIONS, BoardLimits, Profile, Verification
from cuvil_edge.remote.agent import Agent, Tensor
from cuvil_edge.remote.gather import gather_facts
from cuvil_edge.remote.install import reference_inputs, release_files
from cuvil_edge.remote.instruction_counter import plugin_path, read_counts
from cuvil_edge.remote.layout import DEFAULT_ROOT, Layout
from cuvil_edge.remote.script import run_script
from cuvil_edge.remote.transports._base import Source, Transport, chunks
from cuvil_edge.remote.transports.emulator import EmulatorTransport, emulated_cpu
from cuvil_edge.runtime.local_profile import profile_slot, profile_step


@dataclass(frozen=True)
class InputData:
    """An input of the model from the user: raw, little-endian, row-major."""

    data: Source
    shape: tuple[int, ...]


@dataclass(frozen=True)
class MeasureOptions:
    """How to measure."""

    runs: int = 20
    warmup_runs: int = 3
    max_duration_ns: int = 30_000_000_000
    """No new run starts after this time."""
    threads: int | None = None
    """None leaves it to the agent: the CPUs that it may use."""
    cpus: str | None = None
    """The CPUs to run on ("4-7"), None leaves it to the system."""
    inputs: tuple[InputData, ...] | None = None
    """One for each input of the model, in its order; None takes the artifact's reference case."""


@dataclass(frozen=True)
class Labels:
    """What a profile says about its circumstances, besides what was measured."""

    device: str
    board: str | None = None
    limits: BoardLimits | None = None
    command: str | None = None
    verification: Verification | None = None


@dataclass(frozen=True)
class Measurement:
    """``profile``, or in words why there is none."""

    profile: Profile | None
    reason: str | None = None


@dataclass
class _Subject:
    """What is measured: a release in a folder that a transport reaches."""

    transport: Transport
    directory: str
    artifact: ArtifactReader
    inputs: Sequence[Tensor]
    symbols: Mapping[str, int]
    manifest: Manifest = field(init=False)

    def __post_init__(self) -> None:
        self.manifest = self.artifact.manifest


def measure(
    transport: Transport,
    artifact: ArtifactReader,
    options: MeasureOptions,
    labels: Labels,
    *,
    config: Config,
    root: str = DEFAULT_ROOT,
) -> Measurement:
    """Measure the installed release of ``artifact`` on the device, with the facts before and after.

    An emulator (this machine's, or a virtual board that says of itself that it is one) is not timed: what it executes
    is counted, under this machine's emulator. Where that cannot be done, there is no profile but the reason.

    Raises:
        InputError, ShapeError: the inputs do not fit the model.
        RemoteError: the device failed while measuring.
    """
    before = gather_facts(transport, root=root)
    layout = Layout(root, artifact.manifest.model.name)
    if transport.kind == "emulator" or before.get("emulated"):
        return _count(transport, artifact, options, labels, config, before)
    with _inputs_on_device(transport, layout, artifact.manifest, options) as (inputs, symbols):
        subject = _Subject(transport, layout.release(artifact.sha256), artifact, inputs, symbols)
        with Agent.start(transport, subject.directory, threads=options.threads, cpus=options.cpus) as agent:
            reply = agent.profile(
                inputs,
                warmup_runs=options.warmup_runs,
                runs=options.runs,
                max_duration_ns=options.max_duration_ns,
            )
            threads = agent.info.threads
    after = gather_facts(transport, root=root)
    try:
        times = {
            "run_wall_ns": _integers(reply["run_wall_ns"]),
            "step_start_ns": tuple(_integers(row) for row in reply["step_start_ns"]),
            "step_duration_ns": tuple(_integers(row) for row in reply["step_duration_ns"]),
            "unprofiled_run_ns": _integers(reply["unprofiled_run_ns"]),
            "profiler_cost_ns": int(reply["profiler_cost_ns"]),
            "peak_rss_bytes": int(reply["peak_rss_bytes"]),
            "threads": int(reply.get("threads", threads)),
            "arena_bytes": int(reply["arena_bytes"]),
            "warmup_runs": options.warmup_runs,
        }
        return Measurement(_profile(subject, labels, "ns", before, after, times))
    except (KeyError, TypeError, ValueError) as error:
        raise _no_sense(transport, str(error)) from None
    except CuvilError as error:
        raise _no_sense(transport, f"{error.thing}: {error.what}") from None


def save_run(folder: str | Path, profile: Profile, artifact: ArtifactReader) -> Path:
    """Write the run folder that reports are made from: ``profile.json`` and the artifact's ``manifest.json``.

    Raises:
        UsageError: the folder cannot be written.
    """
    path = profile.save(folder).parent
    target = path / MANIFEST_NAME
    part = path / f".{MANIFEST_NAME}.{secrets.token_hex(4)}"
    try:
        part.write_bytes(artifact.member(MANIFEST_NAME))
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UsageError("cannot write the run folder", thing=str(target), found=error.strerror or str(error)) from None
    return path


def bound_symbols(manifest: Manifest, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    """The values of the model's symbols, read off the shapes of its inputs.

    Raises:
        InputError: another number of inputs, or another rank than the model's.
    """
    if len(shapes) != len(manifest.inputs):
        expected = ", ".join(tensor.name for tensor in manifest.inputs)
        raise InputError(
            "wrong number of inputs", expected=f"{len(manifest.inputs)}: {expected}", found=str(len(shapes))
        )
    names = {quote_symbol(symbol.name): symbol.name for symbol in manifest.symbols}
    values: dict[str, int] = {}
    for tensor, shape in zip(manifest.inputs, shapes, strict=True):
        if len(shape) != len(tensor.shape):
            raise InputError(
                "wrong rank of an input", thing=tensor.name, expected=str(list(tensor.shape)), found=str(list(shape))
            )
        for dim, extent in zip(tensor.shape, shape, strict=True):
            if isinstance(dim, str) and dim in names:
                values.setdefault(names[dim], extent)
    return values


@contextlib.contextmanager
def _inputs_on_device(
    transport: Transport, layout: Layout, manifest: Manifest, options: MeasureOptions
) -> Iterator[tuple[list[Tensor], dict[str, int]]]:
    """The inputs as files that the agent can read, and the symbols; what was uploaded is removed afterwards."""
    if options.inputs is None:
        case = _reference_case(manifest)
        yield reference_inputs(manifest.reference[case]), dict(manifest.reference[case].symbols)
        return
    symbols = bound_symbols(manifest, [item.shape for item in options.inputs])
    name = f"inputs-{secrets.token_hex(8)}"
    folder = f"{layout.directory}/{name}"
    run_script(transport, 'mkdir -p "$1"', folder, what="cannot prepare the inputs")
    try:
        tensors = []
        for index, item in enumerate(options.inputs):
            transport.put(item.data, f"{folder}/{index}.bin")
            # The agent runs in releases/<sha256>.
            tensors.append(Tensor(f"../../{name}/{index}.bin", tuple(item.shape)))
        yield tensors, symbols
    finally:
        with contextlib.suppress(CuvilError):
            run_script(transport, 'rm -rf "$1"', folder, what="cannot remove the inputs")


def _reference_case(manifest: Manifest) -> int:
    if not manifest.reference:
        raise InputError(
            "there is nothing to run on",
            expected="inputs (--input NAME=FILE)",
            found="the artifact has no reference case either",
        )
    return 0


def _count(
    transport: Transport,
    artifact: ArtifactReader,
    options: MeasureOptions,
    labels: Labels,
    config: Config,
    facts: Mapping[str, Any],
) -> Measurement:
    """Count the instructions of one run, on one thread, under this machine's emulator."""
    manifest = artifact.manifest
    try:
        emulator = _emulator_for(transport, manifest)
        plugin = plugin_path(config)
    except (UnsupportedError, CompileError) as error:
        return Measurement(None, f"instructions were not counted: {error.what} ({error.hint or error.thing})")
    if (fault := emulator.plugin_fault(plugin)) is not None:
        hint = "the Debian and Ubuntu package qemu-user (not qemu-user-static) can load plugins"
        return Measurement(None, f"instructions were not counted: this qemu takes no plugins ({fault}); {hint}")
    with tempfile.TemporaryDirectory(prefix="cuvil-count-") as folder:
        inputs, symbols = _stage(Path(folder), artifact, options)
        subject = _Subject(emulator, folder, artifact, inputs, symbols)
        output = Path(folder) / "instructions"
        with Agent.start(emulator, folder, threads=1, counting=(plugin, output)) as agent:
            reply = agent.count(inputs)
        counts = read_counts(output, len(manifest.steps), transport.label)
    values = {
        "threads": 1,
        "arena_bytes": int(reply.get("arena_bytes", 0)),
        "step_counters": {INSTRUCTIONS: counts},
    }
    return Measurement(_profile(subject, labels, "instructions", facts, facts, values, transport.kind))


def _emulator_for(transport: Transport, manifest: Manifest) -> EmulatorTransport:
    if isinstance(transport, EmulatorTransport):
        return transport
    if manifest.target.arch != "aarch64":
        raise UnsupportedError("only programs for ARM64 can be counted", thing=manifest.target.arch)
    home = Path(tempfile.gettempdir())
    return EmulatorTransport(cpu=emulated_cpu(manifest.target.cpu), home=home, timeouts=transport.timeouts)


def _stage(folder: Path, artifact: ArtifactReader, options: MeasureOptions) -> tuple[list[Tensor], dict[str, int]]:
    """A copy of the release in a folder here, with the inputs."""
    for file in release_files(artifact):
        target = folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, file.source)
    (folder / "model").chmod(0o755)
    if options.inputs is None:
        case = artifact.manifest.reference[_reference_case(artifact.manifest)]
        return reference_inputs(case), dict(case.symbols)
    symbols = bound_symbols(artifact.manifest, [item.shape for item in options.inputs])
    tensors = []
    for index, item in enumerate(options.inputs):
        _write(folder / f"input-{index}.bin", item.data)
        tensors.append(Tensor(f"input-{index}.bin", tuple(item.shape)))
    return tensors, symbols


def _write(path: Path, source: Source) -> None:
    with path.open("wb") as target:
        for chunk in chunks(source):
            target.write(chunk)


def _profile(
    subject: _Subject,
    labels: Labels,
    unit: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    values: Mapping[str, Any],
    kind: str | None = None,
) -> Profile:
    manifest, symbols = subject.manifest, subject.symbols
    arena = manifest.memory.arena
    is_example = arena is not None and dict(arena.symbols) == dict(symbols)
    return Profile(
        artifact_sha256=subject.artifact.sha256,
        model=manifest.model.name,
        target=manifest.target.name,
        board=labels.board or manifest.target.board or manifest.target.name,
        device=labels.device,
        transport=kind or subject.transport.kind,
        unit=unit,
        created_unix_ns=time.time_ns(),
        symbols=dict(symbols),
        steps=tuple(profile_step(step, symbols) for step in manifest.steps),
        slots=tuple(profile_slot(slot, symbols) for slot in manifest.slots),
        arena_lower_bound_bytes=arena.lower_bound_bytes if arena is not None and is_example else None,
        facts_before=dict(before),
        facts_after=dict(after),
        board_limits=labels.limits,
        verification=labels.verification,
        command=labels.command,
        **values,
    )


def _integers(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or not all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        raise TypeError("expected a list of integers")
    return tuple(values)


def _no_sense(transport: Transport, found: str) -> RemoteCommandError:
    return RemoteCommandError("the agent's measurement makes no sense", thing=transport.label, found=found[:160])
