"""Hashes: chunks tile a member exactly, whatever its size."""

from __future__ import annotations

import hashlib
import threading
import zlib

import pytest

from cuvil_edge.artifact.hashing import describe_member, run_parallel, split_chunks


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 8192, 12289])
def test_chunks_tile_the_member(size: int) -> None:
    data = bytes(i * 7 % 251 for i in range(size))
    info, crc32 = describe_member(memoryview(data), 4096)
    assert (info.bytes, info.sha256, crc32) == (size, hashlib.sha256(data).hexdigest(), zlib.crc32(data))
    expected = [hashlib.sha256(data[i : i + 4096]).hexdigest() for i in range(0, size, 4096)]
    assert list(info.chunk_sha256) == expected


def test_no_chunk_for_no_bytes() -> None:
    assert split_chunks(memoryview(b""), 4096) == []


def test_results_keep_the_order_of_the_tasks() -> None:
    assert run_parallel([lambda i=i: i * i for i in range(50)]) == [i * i for i in range(50)]  # type: ignore[misc]
    assert run_parallel([]) == []


def test_an_exception_of_a_task_arrives_and_no_thread_stays() -> None:
    def fail() -> int:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        run_parallel([fail, fail, lambda: 1])
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("cuvil-hash")]
