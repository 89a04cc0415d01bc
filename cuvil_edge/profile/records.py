"""A measurement as raw data: what ran, where, and every time that was taken. Nothing here is rounded or averaged.

A *run folder* holds ``profile.json`` (a :class:`Profile`) and ``manifest.json`` (a copy of the artifact's); a report
needs nothing else. Sums, medians and percentages are made from it by ``report``.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuvil_edge.errors import UsageError
from cuvil_edge.fields import INT64_MAX, Fields, is_integer, show
from cuvil_edge.profile.parts import (
    BoardLimits,
    ProfileError,
    ProfileSlot,
    ProfileStep,
    ProfileTensor,
    Record,
    Verification,
    VerifiedOutput,
    finished,
)

__all__ = [
    "BoardLimits",
    "Profile",
    "ProfileError",
    "ProfileSlot",
    "ProfileStep",
    "ProfileTensor",
    "Verification",
    "VerifiedOutput",
]

SCHEMA = 1
FILE_NAME = "profile.json"
UNITS = ("ns", "instructions")
TRANSPORTS = ("local", "ssh", "emulator")
INSTRUCTIONS = "instructions"


@dataclass(frozen=True, kw_only=True)
class Profile(Record):
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
    def from_json(cls, value: object, source: str = "profile") -> Profile:
        """Read a profile; ``source`` names the file in messages.

        Raises:
            ProfileError: a key is missing, wrong or unknown, or the parts contradict each other.
        """
        f = Fields(_without_nulls(value), source, ProfileError)
        if (schema := f.integer("schema")) != SCHEMA:
            raise _other_schema(f.where("schema"), schema)
        limits, verification = f.section("board_limits", None), f.section("verification", None)
        try:
            profile = cls(
                schema=schema,
                **_header_from_fields(f),
                **_times_from_fields(f),
                steps=tuple(ProfileStep.from_fields(item) for item in f.sections("steps")),
                slots=tuple(ProfileSlot.from_fields(item) for item in f.sections("slots", ())),
                board_limits=None if limits is None else BoardLimits.from_fields(limits),
                verification=None if verification is None else Verification.from_fields(verification),
            )
        except _Contradiction as error:
            raise f.fault(error.thing, error.what, expected=error.expected, found=error.found) from None
        return finished(f, profile)

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
        return cls.from_json(value, str(path))


class _Contradiction(ProfileError):
    """Found while a record was made, where the file is not known yet; ``from_json`` adds it."""

    @property
    def kind(self) -> str:
        return "profile"


def _without_nulls(value: object) -> object:
    """The same JSON value with absent instead of null keys, which mean the same in a profile (facts are kept)."""
    if isinstance(value, Mapping):
        items = ((k, v if k in ("facts_before", "facts_after") else _without_nulls(v)) for k, v in value.items())
        return {key: item for key, item in items if item is not None}
    if isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        return [_without_nulls(item) for item in value]
    return value


def _header_from_fields(f: Fields) -> dict[str, Any]:
    symbols = f.section("symbols", None)
    return {
        **{key: f.text(key) for key in ("artifact_sha256", "model", "target", "board", "device")},
        "transport": f.text("transport", choices=TRANSPORTS),
        "unit": f.text("unit", choices=UNITS),
        "threads": f.integer("threads", minimum=1),
        "created_unix_ns": f.integer("created_unix_ns"),
        "symbols": {key: symbols.integer(key) for key in _keys(symbols)},
        "facts_before": _facts(f, "facts_before"),
        "facts_after": _facts(f, "facts_after"),
        "command": f.text("command", None),
    }


def _facts(f: Fields, key: str) -> dict[str, Any]:
    table = f.section(key, None)
    return {name: table.get(name) for name in _keys(table)}


def _keys(table: Fields | None) -> tuple[str, ...]:
    return table.names() if table is not None else ()


def _times_from_fields(f: Fields) -> dict[str, Any]:
    counters = f.section("step_counters", None)
    return {
        "run_wall_ns": f.integers("run_wall_ns", ()),
        "step_start_ns": _integer_rows(f, "step_start_ns"),
        "step_duration_ns": _integer_rows(f, "step_duration_ns"),
        "unprofiled_run_ns": f.integers("unprofiled_run_ns", ()),
        "profiler_cost_ns": f.integer("profiler_cost_ns", 0),
        "step_counters": {name: counters.integers(name) for name in _keys(counters)},
        "warmup_runs": f.integer("warmup_runs", 0),
        "arena_bytes": f.integer("arena_bytes", 0),
        "arena_lower_bound_bytes": f.integer("arena_lower_bound_bytes", None),
        "peak_rss_bytes": f.integer("peak_rss_bytes", None),
    }


def _integer_rows(f: Fields, key: str) -> tuple[tuple[int, ...], ...]:
    """An array of arrays of integers in [0, 2**63): one row a run."""
    rows = f.items(key, ())
    for index, row in enumerate(rows):
        if not isinstance(row, list | tuple):
            raise f.fault(f"{key}[{index}]", "has a wrong value", expected="a list of integers", found=show(row))
        for step, value in enumerate(row):
            if not is_integer(value) or not 0 <= value <= INT64_MAX:
                where = f"{key}[{index}][{step}]"
                raise f.fault(where, "has a wrong value", expected="an integer of at least 0", found=show(value))
    return tuple(tuple(row) for row in rows)


def _check_rows(key: str, rows: tuple[tuple[int, ...], ...], runs: int, steps: int) -> None:
    if len(rows) != runs:
        raise _contradiction(key, f"{runs} rows, one for each run of run_wall_ns", str(len(rows)))
    for index, row in enumerate(rows):
        if len(row) != steps:
            raise _contradiction(f"{key}[{index}]", f"{steps} times, one for each step", str(len(row)))


def _contradiction(key: str, expected: str, found: str) -> ProfileError:
    return _Contradiction("contradicts the rest of the profile", thing=key, expected=expected, found=found)


def _other_schema(where: str, schema: int) -> ProfileError:
    newer = schema > SCHEMA
    return ProfileError(
        "the profile is of a newer format" if newer else "the profile is of an unknown format",
        thing=where,
        expected=str(SCHEMA),
        found=str(schema),
        hint="update cuvil-edge to read it" if newer else "measure again",
    )


def _write_whole(path: Path, content: bytes) -> None:
    """Write beside ``path`` and rename, so that a reader never sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
