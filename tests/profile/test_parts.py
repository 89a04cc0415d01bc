"""Risk: a part of a profile accepts what the whole cannot hold."""

from __future__ import annotations

from typing import Any

import pytest

from cuvil_edge.fields import Fields
from cuvil_edge.profile.parts import (
    BoardLimits,
    ProfileError,
    ProfileSlot,
    ProfileStep,
    ProfileTensor,
    Verification,
    VerifiedOutput,
)
from tests.report.samples import make_step

PARTS = [
    ProfileTensor("x", "f32", (1, 2)),
    ProfileTensor("s", "i64", ()),
    make_step(0),
    make_step(1, layers=(), inputs=(), outputs=()),
    ProfileSlot(kind="output", first_step=0, last_step=3, bytes=7, values=("a", "b")),
    BoardLimits(peak_flops_per_second=5),
    BoardLimits(),
    VerifiedOutput(name="y", mismatches=2, shape=(3,), max_abs_error=0.5, max_rel_error=0.25, nan_count=1),
    Verification(passed=True, reference="random"),
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_written_and_read_again_is_equal(part: Any) -> None:
    assert type(part).from_fields(Fields(part.to_json(), "f", ProfileError)) == part


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_an_unknown_key_is_refused(part: Any) -> None:
    with pytest.raises(ProfileError, match="other"):
        type(part).from_fields(Fields({**part.to_json(), "other": 1}, "f", ProfileError))


@pytest.mark.parametrize("key", list(make_step(0).to_json()))
def test_every_key_of_a_step_is_needed(key: str) -> None:
    value = make_step(0).to_json()
    del value[key]
    with pytest.raises(ProfileError, match=key):
        ProfileStep.from_fields(Fields(value, "f", ProfileError))
