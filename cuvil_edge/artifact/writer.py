"""Writing an artifact: equal input gives equal bytes, and a failure leaves nothing behind."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from cuvil_edge.artifact.hashing import describe_member
from cuvil_edge.artifact.manifest import MANIFEST_NAME, Manifest
from cuvil_edge.artifact.parts import member_name_fault
from cuvil_edge.artifact.zip_layout import Entry, plan_layout
from cuvil_edge.errors import ArtifactError, CuvilError, DiskFullError
from cuvil_edge.units import format_bytes

Data = bytes | bytearray | memoryview

_WRITE_BYTES: Final = 8 << 20
_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FIRST: Final = ("lib/", "bin/", "weights.bin", "reference/")


def write_artifact(
    path_or_file: str | os.PathLike[str] | BinaryIO, manifest: Manifest, members: Mapping[str, Data]
) -> Manifest:
    """Writes ``manifest`` and ``members`` as one artifact.

    ``manifest.members`` is computed here. A path is written under a temporary name in the same folder, flushed to the
    disk and renamed, so that the name always holds a whole artifact, old or new. Members stand in a fixed order, not in
    that of the mapping.

    Returns:
        the manifest as written; its ``sha256()`` is the artifact's identity.

    Raises:
        ArtifactError: a member name that is not safe, a manifest that a reader would refuse, or a place that cannot be
            written.
        DiskFullError: no space, or over a quota.
    """
    views = _check_members(members)
    described = {name: describe_member(view) for name, view in views.items()}
    final = dataclasses.replace(manifest, members={name: info for name, (info, _) in described.items()})
    text = final.to_bytes()
    Manifest.from_bytes(text)
    views = {MANIFEST_NAME: memoryview(text), **views}
    described[MANIFEST_NAME] = describe_member(views[MANIFEST_NAME])
    layout = plan_layout(Entry(name, len(view), described[name][1]) for name, view in views.items())
    parts: list[bytes | memoryview] = []
    for entry, header in zip(layout.entries, layout.headers, strict=True):
        parts += [header, views[entry.name]]
    parts.append(layout.tail)
    if isinstance(path_or_file, str | os.PathLike):
        with _replacing(Path(path_or_file), layout.file_bytes) as file:
            _write_parts(file, parts)
    else:
        _write_parts(path_or_file, parts)
    return final


def _check_members(members: Mapping[str, Data]) -> dict[str, memoryview]:
    for name in members:
        if reason := member_name_fault(name):
            raise ArtifactError(reason, thing=f'member "{name}"')
        if name == MANIFEST_NAME:
            raise ArtifactError("is written from the manifest", thing=f'member "{name}"', hint="leave it out")

    def rank(name: str) -> tuple[int, str]:
        return next((i for i, prefix in enumerate(_FIRST) if name.startswith(prefix)), len(_FIRST)), name

    return {name: memoryview(members[name]).cast("B") for name in sorted(members, key=rank)}


def _write_parts(file: BinaryIO, parts: list[bytes | memoryview]) -> None:
    for part in parts:
        view = memoryview(part)
        while view:
            written = file.write(view[:_WRITE_BYTES])
            view = view[_WRITE_BYTES if written is None else written :]


@contextlib.contextmanager
def _replacing(path: Path, size_bytes: int) -> Iterator[BinaryIO]:
    target = Path(os.path.realpath(path))
    temporary = target.parent / f".cuvil-{secrets.token_hex(8)}.tmp"
    created = False
    try:
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            raise ArtifactError("is not a regular file", thing=str(path), hint="give the name of a file: model.cuvil")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        created = True
        with open(descriptor, "wb", buffering=0) as file:
            yield file
            os.fsync(descriptor)
        os.replace(temporary, target)
        created = False
        _sync_folder(target.parent)
    except OSError as error:
        raise _write_fault(error, path, size_bytes) from None
    finally:
        if created:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _sync_folder(folder: Path) -> None:
    # Some file systems cannot flush a folder; the rename itself has succeeded by now.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_fault(error: OSError, path: Path, size_bytes: int) -> CuvilError:
    if error.errno in _NO_SPACE:
        return DiskFullError(
            "no space left to write the artifact",
            thing=str(path),
            expected=f"{format_bytes(size_bytes)} free",
            found=error.strerror,
            hint="free some space, or write to another folder; nothing was left behind",
        )
    hint = "make the folder first" if error.errno == errno.ENOENT else None
    return ArtifactError("cannot be written", thing=str(path), found=error.strerror or str(error), hint=hint)
