"""Fuzzing the reader: a changed file is refused with an ArtifactError, never with another error, never accepted.

A few seconds by default; ``CUVIL_FUZZ_SECONDS=3600`` makes it an hour, with another seed each time.
"""

from __future__ import annotations

import json
import os
import random
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.artifact.manifest import Manifest
from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.artifact.zip_layout import Entry, plan_layout
from cuvil_edge.errors import ArtifactError

SECONDS = float(os.environ.get("CUVIL_FUZZ_SECONDS") or 0)
ROUNDS = 700
LIMITS = (0, 1, -1, 63, 64, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**63, 2**64 - 1)
SIGNATURES = (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7")
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**63, 2**70, 1e308, "", "N", "N*", "..", "/x", "a\\b", "\x00", "x" * 5000),
    *([], {}, [[]], {"N": {}}, [None], "N//0", "max(N,N)", "9" * 400),
)


def _seeds(rounds: int) -> tuple[random.Random, Any]:
    if SECONDS <= 0:
        return random.Random(31), iter(range(rounds))
    seed = time.time_ns()
    print(f"fuzz seed {seed}")
    end = time.monotonic() + SECONDS
    return random.Random(seed), iter(lambda: time.monotonic() < end, False)


def _damage(rng: random.Random, data: bytearray) -> None:
    for _ in range(rng.randrange(1, 5)):
        start = rng.randrange(len(data) + 1)
        length = rng.choice((1, 2, 4, 8, 30, 46, 64))
        other = rng.randrange(len(data) + 1)
        change = rng.randrange(6)
        if change == 0:
            data[start : start + length] = rng.randbytes(length)
        elif change == 1:
            data[start : start + length] = rng.randbytes(rng.randrange(2 * length))
        elif change == 2:
            size = rng.choice((2, 4, 8))
            data[start : start + size] = (rng.choice(LIMITS) % 2 ** (8 * size)).to_bytes(size, "little")
        elif change == 3:
            data[start : start + length] = data[other : other + length]
        elif change == 4:
            data[start : start + 4] = rng.choice(SIGNATURES)
        else:
            del data[start:]


def _check(path: Path) -> None:
    with ArtifactReader(path) as reader:
        reader.verify()


def test_damaged_bytes(artifact: Path, tmp_path: Path) -> None:
    sound = artifact.read_bytes()
    path = tmp_path / "damaged.cuvil"
    rng, rounds = _seeds(ROUNDS)
    for _ in rounds:
        data = bytearray(sound)
        _damage(rng, data)
        if data == sound:
            continue
        path.write_bytes(data)
        with pytest.raises(ArtifactError) as caught:
            _check(path)
        assert caught.value.thing
        assert len(str(caught.value)) < 2000


def _change_json(rng: random.Random, value: Any) -> None:
    place = value
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(place[key], dict | list) and rng.random() < 0.8:
            place = place[key]
            continue
        if isinstance(place, dict) and rng.random() < 0.2:
            del place[key]
        else:
            place[key] = rng.choice(VALUES)
        return


def test_manifests_with_right_checksums_and_wrong_contents(artifact: Path, tmp_path: Path) -> None:
    """The container is sound, so that the changes reach the code behind it."""
    with ArtifactReader(artifact) as reader:
        members = {name: bytes(reader.member(name)) for name in reader.names}
    text = members["manifest.json"]
    path = tmp_path / "changed.cuvil"
    rng, rounds = _seeds(ROUNDS)
    refused = 0
    for _ in rounds:
        value = json.loads(text)
        for _ in range(rng.randrange(1, 3)):
            _change_json(rng, value)
        members["manifest.json"] = json.dumps(value).encode()
        layout = plan_layout(Entry(name, len(data), zlib.crc32(data)) for name, data in members.items())
        parts = [header + members[entry.name] for entry, header in zip(layout.entries, layout.headers, strict=True)]
        path.write_bytes(b"".join(parts) + layout.tail)
        try:
            with ArtifactReader(path) as reader:
                reader.verify()
                # Accepted: then it must be a manifest that can be written and read again.
                assert Manifest.from_bytes(reader.manifest.to_bytes()) == reader.manifest
        except ArtifactError:
            refused += 1
    assert refused > 100
