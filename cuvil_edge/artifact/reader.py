"""Reading an artifact: mapped, never copied, and believed only after it was checked."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import stat
import zlib
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Final

from cuvil_edge.artifact.hashing import run_parallel, sha256_hex, split_chunks
from cuvil_edge.artifact.manifest import MANIFEST_NAME, Manifest, check_format, decode_json
from cuvil_edge.artifact.parts import MemberInfo
from cuvil_edge.artifact.zip_layout import Entry, check_layout, parse_directory
from cuvil_edge.errors import ArtifactError
from cuvil_edge.fields import Fields, nearest_hint

_MAX_MANIFEST_BYTES: Final = 256 << 20
_COPY_AGAIN: Final = "the copy is damaged or was changed; copy it again, or compile the model again"


class ArtifactReader:
    """An open artifact.

    Opening checks the container, byte for byte, and the manifest. ``verify`` checks the members against their hashes;
    call it before anything from the file is executed. After both, no byte of the file differs from what was written.

    A view from ``member`` stays valid after ``close``: it keeps the mapping alive.

    Raises:
        ArtifactError: the file cannot be read, is damaged, was changed, or has a newer format.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._source = os.fspath(path)
        self._map = _map_file(self._source)
        try:
            self._view = memoryview(self._map)
            self._entries, self.manifest, self.sha256 = self._open()
        except BaseException:
            self.close()
            raise

    manifest: Manifest
    """The manifest, checked."""
    sha256: str
    """The identity of the artifact: the hash of its ``manifest.json``, which holds the hash of every other member."""

    def __enter__(self) -> ArtifactReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Unmaps the file, now or when the last view of a member is gone."""
        if hasattr(self, "_view"):
            self._view.release()
        with contextlib.suppress(BufferError):
            self._map.close()

    @property
    def path(self) -> str:
        """The file, as it was given."""
        return self._source

    @property
    def names(self) -> tuple[str, ...]:
        """All members in the order of the file, ``manifest.json`` first."""
        return tuple(self._entries)

    def member(self, name: str) -> memoryview:
        """The bytes of a member, read-only and mapped from the file; not yet verified."""
        entry = self._entry(name)
        return self._view[entry.offset : entry.offset + entry.size]

    def offset(self, name: str) -> int:
        """Where the bytes of a member start in the file: a multiple of 64."""
        return self._entry(name).offset

    def verify(self, names: Iterable[str] | None = None) -> None:
        """Compares members (None: all) with their hashes; raises ArtifactError that names the first wrong one.

        Chunks are hashed on several threads. A member that was hashed in chunks is compared chunk by chunk.
        """
        tasks: list[Callable[[], str | None]] = []
        for name in self.manifest.members if names is None else names:
            self._entry(name)
            if name != MANIFEST_NAME:
                tasks += _hash_tasks(name, self.manifest.members[name], self.member(name))
        for fault in run_parallel(tasks):
            if fault is not None:
                raise ArtifactError(fault, thing=self._source, hint=_COPY_AGAIN)

    def _entry(self, name: str) -> Entry:
        if name not in self._entries:
            raise ArtifactError(
                f'there is no member "{name}"', thing=self._source, hint=nearest_hint(name, self._entries)
            )
        return self._entries[name]

    def _open(self) -> tuple[dict[str, Entry], Manifest, str]:
        listed = parse_directory(self._view, self._source)
        entries = {entry.name: entry for entry in listed}
        if MANIFEST_NAME not in entries:
            raise ArtifactError(
                f"the member {MANIFEST_NAME} is missing",
                thing=self._source,
                found=", ".join(list(entries)[:5]) or "no members",
                hint="this is a zip file, but cuvil-edge did not make it",
            )
        manifest_entry = entries[MANIFEST_NAME]
        if manifest_entry.size > _MAX_MANIFEST_BYTES:
            raise ArtifactError("the manifest is too large", thing=self._source, found=f"{manifest_entry.size} bytes")
        text = bytes(self._view[manifest_entry.offset : manifest_entry.offset + manifest_entry.size])
        source = f"{self._source}: {MANIFEST_NAME}"
        if zlib.crc32(text) != manifest_entry.crc32:
            raise ArtifactError("the checksum does not match", thing=source, hint=_COPY_AGAIN)
        values = decode_json(text, source)
        # A newer format may change the container too, so it is named before anything else is compared.
        check_format(Fields(values, source, ArtifactError))
        check_layout(self._view, listed, self._source)
        manifest = Manifest.from_json(values, source)
        _compare_members(manifest, entries, self._source)
        return entries, manifest, sha256_hex(text)


def _map_file(path: str) -> mmap.mmap:
    try:
        # O_NONBLOCK: a named pipe must be refused, not waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not stat.S_ISREG(status.st_mode):
                raise ArtifactError("is not a regular file", thing=path)
            if status.st_size == 0:
                raise ArtifactError("the file is empty", thing=path, hint=_COPY_AGAIN)
            return mmap.mmap(descriptor, status.st_size, access=mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or str(error)
        raise ArtifactError("cannot read the artifact", thing=path, found=found) from None


def _compare_members(manifest: Manifest, entries: dict[str, Entry], source: str) -> None:
    for name, info in manifest.members.items():
        if name not in entries:
            raise ArtifactError(f'the member "{name}" is missing', thing=source, hint=_COPY_AGAIN)
        if entries[name].size != info.bytes:
            raise ArtifactError(
                f'the member "{name}" has a wrong size',
                thing=source,
                expected=f"{info.bytes} bytes",
                found=f"{entries[name].size} bytes",
                hint=_COPY_AGAIN,
            )
    for name in entries:
        if name != MANIFEST_NAME and name not in manifest.members:
            raise ArtifactError(f'the member "{name}" is not in the manifest', thing=source, hint=_COPY_AGAIN)


def _hash_tasks(name: str, info: MemberInfo, data: memoryview) -> list[Callable[[], str | None]]:
    def compare(part: memoryview, expected: str) -> str | None:
        return None if sha256_hex(part) == expected else f'the member "{name}" does not match its hash'

    if not info.chunk_sha256:
        return [lambda: compare(data, info.sha256)]
    chunks = split_chunks(data, info.chunk_bytes)
    return [
        lambda part=part, expected=expected: compare(part, expected)  # type: ignore[misc]
        for part, expected in zip(chunks, info.chunk_sha256, strict=True)
    ]
