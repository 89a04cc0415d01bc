"""Hashes of members, in chunks that threads share (hashlib releases the interpreter lock)."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from cuvil_edge.artifact.parts import CHUNK_BYTES, MemberInfo

T = TypeVar("T")

_MAX_THREADS: Final = 8


def sha256_hex(data: bytes | memoryview) -> str:
    """The SHA-256 of the bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def split_chunks(data: memoryview, chunk_bytes: int) -> list[memoryview]:
    """The parts of ``chunk_bytes`` bytes each; the last may be shorter; none for no bytes."""
    return [data[start : start + chunk_bytes] for start in range(0, len(data), chunk_bytes)]


def run_parallel(tasks: Iterable[Callable[[], T]]) -> list[T]:
    """The results of the tasks in their order, run on at most eight threads; the first exception is raised."""
    listed = list(tasks)
    threads = min(len(listed), len(os.sched_getaffinity(0)), _MAX_THREADS)
    if threads <= 1:
        return [task() for task in listed]
    with ThreadPoolExecutor(threads, thread_name_prefix="cuvil-hash") as pool:
        return [future.result() for future in [pool.submit(task) for task in listed]]


def describe_member(data: memoryview, chunk_bytes: int = CHUNK_BYTES) -> tuple[MemberInfo, int]:
    """Size and hashes of a member, and its CRC-32 for the container."""
    chunks = split_chunks(data, chunk_bytes)
    if len(chunks) <= 1:
        whole = sha256_hex(data)
        return MemberInfo(len(data), whole, chunk_bytes, (whole,) * len(chunks)), zlib.crc32(data)
    tasks: list[Callable[[], str | int]] = [lambda: sha256_hex(data), lambda: zlib.crc32(data)]
    tasks += [lambda chunk=chunk: sha256_hex(chunk) for chunk in chunks]  # type: ignore[misc]
    whole_hash, crc32, *chunk_hashes = run_parallel(tasks)
    info = MemberInfo(len(data), str(whole_hash), chunk_bytes, tuple(str(value) for value in chunk_hashes))
    return info, int(crc32)
