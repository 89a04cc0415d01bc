"""The parts of a profile: steps, tensors, slots, limits, verification. See :mod:`cuvil_edge.profile.records`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from cuvil_edge.errors import CuvilError
from cuvil_edge.fields import Fields

R = TypeVar("R")
SLOT_KINDS = ("arena", "input", "output")


class ProfileError(CuvilError):
    """A profile cannot be used: damaged, contradicts itself, or of a newer format."""


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


class Record:
    """Base of the records: ``to_json`` writes every field that is not None."""

    def to_json(self) -> dict[str, Any]:
        """This record as a JSON object, keys in the order of the fields."""
        values = ((f.name, _plain(getattr(self, f.name))) for f in fields(self))  # type: ignore[arg-type]
        return {name: value for name, value in values if value is not None}


def finished(f: Fields, record: R) -> R:
    """``record``, after refusing the keys that nobody read."""
    f.refuse_unknown()
    return record


@dataclass(frozen=True)
class ProfileTensor(Record):
    """A tensor that a step reads or writes, with the extents of this measurement."""

    value: str
    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def from_fields(cls, f: Fields) -> ProfileTensor:
        """Read the record. Raises ProfileError naming the key."""
        return finished(f, cls(value=f.text("value"), dtype=f.text("dtype"), shape=f.integers("shape")))


@dataclass(frozen=True, kw_only=True)
class ProfileStep(Record):
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
    """All that the step reads at least once, weights included."""
    bytes_written: int
    weights_bytes: int
    """The part of ``bytes_read`` that is weights."""

    @classmethod
    def from_fields(cls, f: Fields) -> ProfileStep:
        """Read the record. Raises ProfileError naming the key."""
        step = cls(
            name=f.text("name"),
            op=f.text("op"),
            kernel=f.text("kernel"),
            layers=f.texts("layers"),
            dtype=f.text("dtype"),
            inputs=tuple(ProfileTensor.from_fields(item) for item in f.sections("inputs")),
            outputs=tuple(ProfileTensor.from_fields(item) for item in f.sections("outputs")),
            flops=f.integer("flops"),
            bytes_read=f.integer("bytes_read"),
            bytes_written=f.integer("bytes_written"),
            weights_bytes=f.integer("weights_bytes"),
        )
        return finished(f, step)


@dataclass(frozen=True, kw_only=True)
class ProfileSlot(Record):
    """A buffer that lives from the start of ``first_step`` to the end of ``last_step`` (both inclusive)."""

    kind: str
    first_step: int
    last_step: int
    bytes: int
    values: tuple[str, ...] = ()

    @classmethod
    def from_fields(cls, f: Fields) -> ProfileSlot:
        """Read the record. Raises ProfileError naming the key."""
        slot = cls(
            kind=f.text("kind", choices=SLOT_KINDS),
            first_step=f.integer("first_step"),
            last_step=f.integer("last_step"),
            bytes=f.integer("bytes"),
            values=f.texts("values", ()),
        )
        return finished(f, slot)


@dataclass(frozen=True, kw_only=True)
class BoardLimits(Record):
    """What the board could do at most with the threads that were used: the roof of the roofline."""

    peak_flops_per_second: int | None = None
    memory_bytes_per_second: int | None = None

    @classmethod
    def from_fields(cls, f: Fields) -> BoardLimits:
        """Read the record. Raises ProfileError naming the key."""
        limits = cls(
            peak_flops_per_second=f.integer("peak_flops_per_second", None, minimum=1),
            memory_bytes_per_second=f.integer("memory_bytes_per_second", None, minimum=1),
        )
        return finished(f, limits)


@dataclass(frozen=True, kw_only=True)
class VerifiedOutput(Record):
    """How far one output was from the reference; errors are None where they could not be computed."""

    name: str
    mismatches: int
    shape: tuple[int, ...] = ()
    max_abs_error: float | None = None
    max_rel_error: float | None = None
    """Relative to the largest absolute value of the reference output."""
    nan_count: int = 0

    @classmethod
    def from_fields(cls, f: Fields) -> VerifiedOutput:
        """Read the record. Raises ProfileError naming the key."""
        output = cls(
            name=f.text("name"),
            mismatches=f.integer("mismatches"),
            shape=f.integers("shape", ()),
            max_abs_error=f.number("max_abs_error", None),
            max_rel_error=f.number("max_rel_error", None),
            nan_count=f.integer("nan_count", 0),
        )
        return finished(f, output)


@dataclass(frozen=True, kw_only=True)
class Verification(Record):
    """The comparison of the device's answers with the reference case of the artifact."""

    passed: bool
    outputs: tuple[VerifiedOutput, ...] = ()
    reference: str | None = None
    """The name of the reference case."""

    @classmethod
    def from_fields(cls, f: Fields) -> Verification:
        """Read the record. Raises ProfileError naming the key."""
        verification = cls(
            passed=f.boolean("passed"),
            outputs=tuple(VerifiedOutput.from_fields(item) for item in f.sections("outputs", ())),
            reference=f.text("reference", None),
        )
        return finished(f, verification)
