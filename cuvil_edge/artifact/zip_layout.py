"""The container of an artifact: the strict subset of the zip format that it uses, byte for byte.

Members are stored (not compressed), in one fixed order, with one fixed timestamp, and their data starts at multiples
of 64 bytes (padding is in the local header's extra field, under the identifier that Android's zipalign uses). All
bytes outside the members' data follow from (name, size, CRC-32) of the members, so a reader can compare every one of
them and a changed byte cannot hide in a header. Any zip program can list and extract such a file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cuvil_edge.errors import ArtifactError

ALIGNMENT_BYTES: Final = 64
ZIP64_LIMIT: Final = 0xFFFFFFFF

_LOCAL: Final = struct.Struct("<4s5H3I2H")
_CENTRAL: Final = struct.Struct("<4s6H3I5H2I")
_END: Final = struct.Struct("<4s4H2IH")
_END64: Final = struct.Struct("<4sQ2H2I4Q")
_LOCATOR64: Final = struct.Struct("<4sIQI")
_EXTRA: Final = struct.Struct("<2H")

_UTF8_NAMES: Final = 0x0800
_ENCRYPTED: Final = 0x0001
_DOS_DATE_1980: Final = 0x0021
_MADE_BY_UNIX: Final = 3 << 8
_ALIGNMENT_EXTRA: Final = 0xD935
_ZIP64_EXTRA: Final = 0x0001
_REBUILD: Final = "the file was changed or repacked; compile the model again, or copy it again from where it was made"


@dataclass(frozen=True)
class Entry:
    """A member as the container sees it; ``offset`` is where its data starts in the file."""

    name: str
    size: int
    crc32: int
    offset: int = 0


@dataclass(frozen=True)
class Layout:
    """All bytes around the data: what stands before each member's data, and the tail after the last one."""

    entries: tuple[Entry, ...]
    headers: tuple[bytes, ...]
    tail: bytes

    @property
    def file_bytes(self) -> int:
        """The size of the whole file."""
        last = self.entries[-1] if self.entries else Entry("", 0, 0)
        return last.offset + last.size + len(self.tail)


def plan_layout(entries: Iterable[Entry]) -> Layout:
    """The container of the members in this order; their ``offset`` is computed, not read."""
    placed: list[Entry] = []
    headers: list[bytes] = []
    directory = bytearray()
    position = 0
    for entry in entries:
        header = _local_header(entry, position)
        headers.append(header)
        placed.append(Entry(entry.name, entry.size, entry.crc32, position + len(header)))
        directory += _central_header(entry, position)
        position += len(header) + entry.size
    tail = bytes(directory) + _end_records(len(placed), len(directory), position)
    return Layout(tuple(placed), tuple(headers), tail)


def _versions(is_zip64: bool, name: bytes) -> tuple[int, int]:
    flags = 0 if name.isascii() else _UTF8_NAMES
    return (45 if is_zip64 else 20), flags


def _local_header(entry: Entry, position: int) -> bytes:
    name = entry.name.encode()
    is_large = entry.size >= ZIP64_LIMIT
    extra = _EXTRA.pack(_ZIP64_EXTRA, 16) + struct.pack("<2Q", entry.size, entry.size) if is_large else b""
    unpadded = position + _LOCAL.size + len(name) + len(extra) + _EXTRA.size + 2
    padding = -unpadded % ALIGNMENT_BYTES
    extra += _EXTRA.pack(_ALIGNMENT_EXTRA, 2 + padding) + struct.pack("<H", ALIGNMENT_BYTES) + bytes(padding)
    size = 0xFFFFFFFF if is_large else entry.size
    version, flags = _versions(is_large, name)
    fixed = _LOCAL.pack(b"PK\3\4", version, flags, 0, 0, _DOS_DATE_1980, entry.crc32, size, size, len(name), len(extra))
    return fixed + name + extra


def _central_header(entry: Entry, position: int) -> bytes:
    name = entry.name.encode()
    wide = b""
    size = offset = 0xFFFFFFFF
    if entry.size >= ZIP64_LIMIT:
        wide += struct.pack("<2Q", entry.size, entry.size)
    else:
        size = entry.size
    if position >= ZIP64_LIMIT:
        wide += struct.pack("<Q", position)
    else:
        offset = position
    extra = _EXTRA.pack(_ZIP64_EXTRA, len(wide)) + wide if wide else b""
    version, flags = _versions(bool(wide), name)
    mode = 0o100755 if entry.name.startswith("bin/") else 0o100644
    fixed = _CENTRAL.pack(
        b"PK\1\2",
        _MADE_BY_UNIX | version,
        version,
        flags,
        0,
        0,
        _DOS_DATE_1980,
        entry.crc32,
        size,
        size,
        len(name),
        len(extra),
        0,
        0,
        0,
        mode << 16,
        offset,
    )
    return fixed + name + extra


def _end_records(count: int, directory_bytes: int, position: int) -> bytes:
    is_large = count >= min(0xFFFF, ZIP64_LIMIT) or directory_bytes >= ZIP64_LIMIT or position >= ZIP64_LIMIT
    if not is_large:
        return _END.pack(b"PK\5\6", 0, 0, count, count, directory_bytes, position, 0)
    record = _END64.pack(b"PK\6\6", 44, _MADE_BY_UNIX | 45, 45, 0, 0, count, count, directory_bytes, position)
    locator = _LOCATOR64.pack(b"PK\6\7", 0, position + directory_bytes, 1)
    return record + locator + _END.pack(b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)


def parse_directory(data: memoryview, source: str) -> tuple[Entry, ...]:
    """The members that the central directory lists, in its order.

    Raises:
        ArtifactError: not such a file, cut off, compressed, encrypted, or members that are not inside the file.
    """
    count, start, size = _directory_place(data, source)
    entries: list[Entry] = []
    seen: set[str] = set()
    position, end = start, start + size
    for _ in range(count):
        entry, header_start, position = _parse_central(data, position, end, source)
        if entry.name in seen:
            raise _damaged(source, f'the member "{entry.name}" is there twice')
        seen.add(entry.name)
        entries.append(_locate(data, entry, header_start, start, source))
    if position != end:
        raise _damaged(source, "bytes after the last entry of the directory")
    return tuple(entries)


def check_layout(data: memoryview, entries: tuple[Entry, ...], source: str) -> None:
    """Compares every byte outside the members' data with the one that must be there; raises ArtifactError."""
    layout = plan_layout(entries)
    if layout.file_bytes != len(data):
        raise _damaged(source, f"{len(data)} bytes where the members make {layout.file_bytes}")
    for entry, header in zip(layout.entries, layout.headers, strict=True):
        if data[entry.offset - len(header) : entry.offset] != header:
            raise _damaged(source, f'the header of "{entry.name}" is not as it was written')
    if data[len(data) - len(layout.tail) :] != layout.tail:
        raise _damaged(source, "the directory is not as it was written")


def _directory_place(data: memoryview, source: str) -> tuple[int, int, int]:
    if len(data) < _END.size or bytes(data[:4]) not in (b"PK\3\4", b"PK\5\6"):
        raise ArtifactError(
            "is not an artifact",
            thing=source,
            expected="a .cuvil file",
            found="an empty file" if len(data) == 0 else f"{len(data)} bytes of something else",
            hint="make one with: cuvil-edge compile MODEL -o model.cuvil",
        )
    end = len(data) - _END.size
    magic, disk, first_disk, here, count, size, start, comment = _END.unpack_from(data, end)
    if magic != b"PK\5\6" or disk or first_disk or here != count or comment:
        raise ArtifactError(
            "is cut off or has bytes added at its end",
            thing=source,
            expected="the end record of a .cuvil file",
            found=f"{len(data)} bytes without one",
            hint="the copy was not complete; copy it again",
        )
    if 0xFFFF in (here, count) or 0xFFFFFFFF in (size, start):
        count, start, size, end = _directory_place64(data, end, source)
    if start + size != end:
        raise _damaged(source, "the directory is not where the end record says")
    return count, start, size


def _directory_place64(data: memoryview, end: int, source: str) -> tuple[int, int, int, int]:
    locator = end - _LOCATOR64.size
    record = locator - _END64.size
    if record < 0:
        raise _damaged(source, "no room for the end record of a large file")
    magic, disk, place, disks = _LOCATOR64.unpack_from(data, locator)
    fields = _END64.unpack_from(data, record)
    if magic != b"PK\6\7" or fields[0] != b"PK\6\6" or place != record or disk or disks != 1 or fields[6] != fields[7]:
        raise _damaged(source, "the end record of a large file is wrong")
    return fields[7], fields[9], fields[8], record


def _parse_central(data: memoryview, position: int, end: int, source: str) -> tuple[Entry, int, int]:
    if position + _CENTRAL.size > end:
        raise _damaged(source, "the directory ends early")
    fields = _CENTRAL.unpack_from(data, position)
    magic, flags, method, crc32, packed, size, name_bytes, extra_bytes, comment_bytes = (
        fields[i] for i in (0, 3, 4, 7, 8, 9, 10, 11, 12)
    )
    name_start = position + _CENTRAL.size
    extra_start = name_start + name_bytes
    following = extra_start + extra_bytes + comment_bytes
    if magic != b"PK\1\2" or following > end:
        raise _damaged(source, "an entry of the directory is wrong")
    try:
        name = bytes(data[name_start:extra_start]).decode("utf-8")
    except UnicodeDecodeError:
        raise _damaged(source, "a member name that is not UTF-8") from None
    if flags & _ENCRYPTED:
        raise _damaged(source, f'the member "{name}" is encrypted')
    if method != 0:
        raise ArtifactError(
            f'the member "{name}" is compressed',
            thing=source,
            expected="members that are stored as they are, so that they can be mapped",
            found=f"compression method {method}",
            hint=_REBUILD,
        )
    wide = _wide_values(bytes(data[extra_start : extra_start + extra_bytes]))
    size, packed, offset = _widen((size, packed, fields[16]), wide, source)
    if size != packed:
        raise _damaged(source, f'the member "{name}" has two different sizes')
    return Entry(name, size, crc32), offset, following


def _wide_values(extra: bytes) -> list[int]:
    if len(extra) < _EXTRA.size:
        return []
    kind, length = _EXTRA.unpack_from(extra)
    if kind != _ZIP64_EXTRA or length != len(extra) - _EXTRA.size or length % 8:
        return []
    return list(struct.unpack_from(f"<{length // 8}Q", extra, _EXTRA.size))


def _widen(values: tuple[int, int, int], wide: list[int], source: str) -> tuple[int, ...]:
    widened = []
    for value in values:
        if value == 0xFFFFFFFF:
            if not wide:
                raise _damaged(source, "an entry of the directory lacks its 64-bit size")
            value = wide.pop(0)
        widened.append(value)
    return tuple(widened)


def _locate(data: memoryview, entry: Entry, header_start: int, directory_start: int, source: str) -> Entry:
    if header_start + _LOCAL.size > directory_start:
        raise _damaged(source, f'the member "{entry.name}" lies outside the file')
    fields = _LOCAL.unpack_from(data, header_start)
    start = header_start + _LOCAL.size + fields[9] + fields[10]
    if fields[0] != b"PK\3\4" or start + entry.size > directory_start:
        raise _damaged(source, f'the member "{entry.name}" lies outside the file')
    return Entry(entry.name, entry.size, entry.crc32, start)


def _damaged(source: str, found: str) -> ArtifactError:
    return ArtifactError("the file is damaged", thing=source, found=found, hint=_REBUILD)
