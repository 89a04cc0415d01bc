"""A measurement as raw data: what ran, where, and every time that was taken. Nothing here is rounded or averaged.

A *run folder* holds ``profile.json`` (a :class:`Profile`) and ``manifest.json`` (a copy of the artifact's); a report
needs nothing else. Sums, medians and percentages are made from it by ``report``.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from cuvil_edge.errors import UsageError
from cuvil_edge.profile.fields import Fields, ProfileError

SCHEMA = 1
FILE_NAME = "profile.json"
UNITS = ("ns", "instructions")
TRANSPORTS = ("local", "ssh", "emulator")
SLOT_KINDS = ("arena", "input", "output")
INSTRUCTIONS = "instructions"


def _plain(value: Any) -> Any:
    """Records, tuples and mappings as JSON values; absent optional values are left out by their owner."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no NaN; a number that could not be computed is absent
    return value


class _Record:
    """Base of the records: ``to_json`` writes every field that is not None."""

    def to_json(self) -> dict[str, Any]:
        """This record as a JSON object, keys in the order of the fields."""
        values = ((f.name, _plain(getattr(self, f.name))) for f in fields(self))  # type: ignore[arg-type]
        return {name: value for name, value in values if value is not None}


@dataclass(frozen=True)
class ProfileTensor(_Record):
    """A tensor that a step reads or writes, with the extents of this measurement."""

    value: str
    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def from_json(cls, value: object, path: str = "") -> ProfileTensor:
        """Read the record. Raises ProfileError naming the key."""
        f = Fields(value, path)
        tensor = cls(value=f.text("value"), dtype=f.text("dtype"), shape=f.integers("shape"))
        f.finish()
        return tensor


@dataclass(frozen=True, kw_only=True)
class ProfileStep(_Record):
    """One kernel call of the plan. ``layers`` are names in the user's model, all of those that were fused into it."""

    name: str
    op: str
    kernel: str
    layers: tuple[str, ...]
    dtype: str
    inputs: tuple[ProfileTensor, ...]
    outputs: tuple[ProfileTensor, ...]
    flops: int
    bytes_read: int
    bytes_written: int
    weights_bytes: int

    @classmethod
    def from_json(cls, value: object, path: str = "") -> ProfileStep:
        """Read the record. Raises ProfileError naming the key."""
        f = Fields(value, path)
        step = cls(
            name=f.text("name"),
            op=f.text("op"),
            kernel=f.text("kernel"),
            layers=f.texts("layers"),
            dtype=f.text("dtype"),
            inputs=f.each("inputs", ProfileTensor.from_json),
            outputs=f.each("outputs", ProfileTensor.from_json),
            flops=f.integer("flops"),
            bytes_read=f.integer("bytes_read"),
            bytes_written=f.integer("bytes_written"),
            weights_bytes=f.integer("weights_bytes"),
        )
        f.finish()
        return step


@dataclass(frozen=True, kw_only=True)
class ProfileSlot(_Record):
    """A buffer that lives from the start of ``first_step`` to the end of ``last_step`` (both inclusive)."""

    kind: str
    first_step: int
    last_step: int
    bytes: int
    values: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, value: object, path: str = "") -> ProfileSlot:
        """Read the record. Raises ProfileError naming the key."""
        f = Fields(value, path)
        slot = cls(
            kind=f.choice("kind", SLOT_KINDS),
            first_step=f.integer("first_step"),
            last_step=f.integer("last_step"),
            bytes=f.integer("bytes"),
            values=f.texts("values"),
        )
        f.finish()
        return slot


@dataclass(frozen=True, kw_only=True)
class BoardLimits(_Record):
    """What the board could do at most with the threads that were used: the roof of the roofline."""

    peak_flops_per_second: int | None = None
    memory_bytes_per_second: int | None = None

    @classmethod
    def from_json(cls, value: object, path: str = "") -> BoardLimits:
        """Read the record. Raises ProfileError naming the key."""
        f = Fields(value, path)
        limits = cls(
            peak_flops_per_second=f.optional("peak_flops_per_second", f.integer),
            memory_bytes_per_second=f.optional("memory_bytes_per_second", f.integer),
        )
        f.finish()
        return limits


@dataclass(frozen=True, kw_only=True)
class VerifiedOutput(_Record):
    """How far one output was from the reference; errors are None where they could not be computed."""

    name: str
    mismatches: int
    shape: tuple[int, ...] = ()
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    """Relative to the largest absolute value of the reference output."""
    nan_count: int = 0

    @classmethod
    def from_json(cls, value: object, path: str = "") -> VerifiedOutput:
        """Read the record. Raises ProfileError naming the key."""
        f = Fields(value, path)
        output = cls(
            name=f.text("name"),
            mismatches=f.integer("mismatches"),
            shape=f.optional("shape", f.integers) or (),
            max_abs_error=f.optional("max_abs_error", f.number),
            max_rel_error=f.optional("max_rel_error", f.number),
            nan_count=f.optional("nan_count", f.integer) or 0,
        )
        f.finish()
        return output


@dataclass(frozen=True, kw_only=True)
class Verification(_Record):
    """The comparison of the device's answers with the reference case of the artifact."""

    passed: bool
    outputs: tuple[VerifiedOutput, ...] = ()
    reference: str | None = None
    """The name of the reference case."""

    @classmethod
    def from_json(cls, value: object, path: str = "") -> Verification:
        """Read the record. Raises ProfileError naming the key."""
        f = Fields(value, path)
        verification = cls(
            passed=f.truth("passed"),
            outputs=f.each("outputs", VerifiedOutput.from_json),
            reference=f.optional("reference", f.text),
        )
        f.finish()
        return verification


@dataclass(frozen=True, kw_only=True)
class Profile(_Record):
    """A measurement of one artifact on one device.

    With unit "ns", ``step_start_ns[run][step]`` is the time from the start of that run and
    ``step_duration_ns[run][step]`` the time the step took; ``profiler_cost_ns`` is what taking these times cost in
    each run. With unit "instructions" (an emulator) there are no times; ``step_counters["instructions"][step]`` are
    the instructions that each step executed.

    Raises:
        ProfileError: the parts contradict each other (another number of runs or steps, a slot of no step).
    """

    artifact_sha256: str
    model: str
    target: str
    board: str
    device: str
    transport: str
    unit: str
    threads: int
    created_unix_ns: int
    steps: tuple[ProfileStep, ...]
    symbols: Mapping[str, int] = field(default_factory=dict)
    run_wall_ns: tuple[int, ...] = ()
    step_start_ns: tuple[tuple[int, ...], ...] = ()
    step_duration_ns: tuple[tuple[int, ...], ...] = ()
    unprofiled_run_ns: tuple[int, ...] = ()
    profiler_cost_ns: int = 0
    step_counters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """A counter that was not measured is absent, never 0."""
    warmup_runs: int = 0
    arena_bytes: int = 0
    arena_lower_bound_bytes: int | None = None
    peak_rss_bytes: int | None = None
    slots: tuple[ProfileSlot, ...] = ()
    facts_before: Mapping[str, Any] = field(default_factory=dict)
    facts_after: Mapping[str, Any] = field(default_factory=dict)
    board_limits: BoardLimits | None = None
    verification: Verification | None = None
    command: str | None = None
    """A command line that repeats the measurement."""
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        runs, steps = len(self.run_wall_ns), len(self.steps)
        if self.unit not in UNITS:
            raise _contradiction("unit", " or ".join(UNITS), self.unit)
        if self.transport not in TRANSPORTS:
            raise _contradiction("transport", " or ".join(TRANSPORTS), self.transport)
        if self.threads < 1:
            raise _contradiction("threads", "at least 1", str(self.threads))
        if self.unit == "ns":
            for key in ("step_start_ns", "step_duration_ns"):
                _check_rows(key, getattr(self, key), runs, steps)
        elif self.step_duration_ns or self.step_start_ns:
            raise _contradiction("step_duration_ns", "no times, because the unit is instructions", "times")
        elif steps and INSTRUCTIONS not in self.step_counters:
            raise _contradiction("step_counters.instructions", "a count for each step", "nothing")
        for name, counts in self.step_counters.items():
            if len(counts) != steps:
                raise _contradiction(f"step_counters.{name}", f"{steps} counts, one for each step", str(len(counts)))
        for index, slot in enumerate(self.slots):
            if not slot.first_step <= slot.last_step < max(steps, 1):
                raise _contradiction(
                    f"slots[{index}]", f"first_step <= last_step < {steps}", f"{slot.first_step} to {slot.last_step}"
                )

    @property
    def is_timed(self) -> bool:
        """Whether this profile holds times (and not instruction counts)."""
        return self.unit == "ns"

    def to_json(self) -> dict[str, Any]:
        """The whole profile as a JSON object, ``schema`` first."""
        values = super().to_json()
        return {"schema": values.pop("schema"), **values}

    @classmethod
    def from_json(cls, value: object, path: str = "") -> Profile:
        """Read a profile. Raises ProfileError naming the key that is missing, wrong or unknown."""
        f = Fields(value, path)
        if (schema := f.integer("schema")) != SCHEMA:
            raise _other_schema(schema)
        profile = cls(
            schema=schema,
            **_header_from_json(f),
            **_times_from_json(f),
            steps=f.each("steps", ProfileStep.from_json),
            slots=f.optional("slots", lambda key: f.each(key, ProfileSlot.from_json)) or (),
            board_limits=f.optional("board_limits", lambda key: f.one(key, BoardLimits.from_json)),
            verification=f.optional("verification", lambda key: f.one(key, Verification.from_json)),
        )
        f.finish()
        return profile

    def save(self, folder: str | Path) -> Path:
        """Write ``profile.json`` into ``folder`` (made if needed), whole or not at all; the path of the file.

        Raises:
            UsageError: the folder cannot be made or written.
        """
        path = Path(folder) / FILE_NAME
        text = json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(path, text.encode("utf-8", errors="surrogatepass"))
        except OSError as error:
            raise UsageError("cannot write the profile", thing=str(path), found=error.strerror or str(error)) from None
        return path

    @classmethod
    def load(cls, folder_or_file: str | Path) -> Profile:
        """Read a run folder, or a profile file itself.

        Raises:
            UsageError: there is no such file, or it cannot be read.
            ProfileError: it is damaged, contradicts itself or is of another format version.
        """
        path = Path(folder_or_file)
        path = path / FILE_NAME if path.is_dir() else path
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError(
                "cannot read the profile",
                thing=str(path),
                expected=f"a run folder with {FILE_NAME} in it, or such a file",
                found=error.strerror or str(error),
                hint="'profile' and 'deploy' write run folders",
            ) from None
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ProfileError(
                "the profile is damaged", thing=str(path), expected="JSON", found=str(error), hint="measure again"
            ) from None
        try:
            return cls.from_json(value)
        except ProfileError as error:
            raise _in_file(error, path) from None


def _header_from_json(f: Fields) -> dict[str, Any]:
    return {
        **{key: f.text(key) for key in ("artifact_sha256", "model", "target", "board", "device")},
        "transport": f.choice("transport", TRANSPORTS),
        "unit": f.choice("unit", UNITS),
        "threads": f.integer("threads"),
        "created_unix_ns": f.integer("created_unix_ns"),
        "symbols": f.optional("symbols", f.integer_map) or {},
        "facts_before": f.optional("facts_before", f.mapping) or {},
        "facts_after": f.optional("facts_after", f.mapping) or {},
        "command": f.optional("command", f.text),
    }


def _times_from_json(f: Fields) -> dict[str, Any]:
    return {
        "run_wall_ns": f.optional("run_wall_ns", f.integers) or (),
        "step_start_ns": f.optional("step_start_ns", f.integer_rows) or (),
        "step_duration_ns": f.optional("step_duration_ns", f.integer_rows) or (),
        "unprofiled_run_ns": f.optional("unprofiled_run_ns", f.integers) or (),
        "profiler_cost_ns": f.optional("profiler_cost_ns", f.integer) or 0,
        "step_counters": f.optional("step_counters", f.integers_map) or {},
        "warmup_runs": f.optional("warmup_runs", f.integer) or 0,
        "arena_bytes": f.optional("arena_bytes", f.integer) or 0,
        "arena_lower_bound_bytes": f.optional("arena_lower_bound_bytes", f.integer),
        "peak_rss_bytes": f.optional("peak_rss_bytes", f.integer),
    }


def _check_rows(key: str, rows: tuple[tuple[int, ...], ...], runs: int, steps: int) -> None:
    if len(rows) != runs:
        raise _contradiction(key, f"{runs} rows, one for each run of run_wall_ns", str(len(rows)))
    for index, row in enumerate(rows):
        if len(row) != steps:
            raise _contradiction(f"{key}[{index}]", f"{steps} times, one for each step", str(len(row)))


def _contradiction(key: str, expected: str, found: str) -> ProfileError:
    return ProfileError("the profile contradicts itself", thing=key, expected=expected, found=found)


def _other_schema(schema: int) -> ProfileError:
    newer = schema > SCHEMA
    return ProfileError(
        "the profile is of a newer format" if newer else "the profile is of an unknown format",
        thing="schema",
        expected=str(SCHEMA),
        found=str(schema),
        hint="update cuvil-edge to read it" if newer else "measure again",
    )


def _in_file(error: ProfileError, path: Path) -> ProfileError:
    """The same error with the file in front of the key."""
    return ProfileError(
        error.what,
        thing=f"{path}: {error.thing}" if error.thing else str(path),
        expected=error.expected,
        found=error.found,
        hint=error.hint,
    )


def _write_whole(path: Path, content: bytes) -> None:
    """Write beside ``path`` and rename, so that a reader never sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
