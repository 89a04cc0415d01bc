"""Compiled objects, kept under a key of everything that decides their bytes, bounded in size.

An entry is written under a temporary name and renamed, so a key either holds a whole object or nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from cuvil_edge.errors import CompileError, DiskFullError


class ObjectCache:
    """A folder of objects. Safe for several processes at once.

    Args:
        folder: made when first needed.
        limit_bytes: the oldest entries are removed beyond this, when ``trim`` is called.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self.folder = folder
        self.limit_bytes = limit_bytes

    def get_or_make(self, key: str, make: Callable[[Path], None]) -> Path:
        """The object for ``key``; ``make`` writes it to the path that it is given if it is missing.

        Raises:
            DiskFullError: no space for the object.
            CompileError: the folder cannot be written; and whatever ``make`` raises.
        """
        path = self.folder / key[:2] / f"{key}.o"
        with contextlib.suppress(OSError):  # not there yet
            if path.stat().st_size > 0:
                with contextlib.suppress(OSError):  # a cache that cannot be written serves what it has
                    os.utime(path)
                return path
        with self._disk_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-", suffix=".o")
            os.close(handle)
        try:
            make(Path(temporary))
            with self._disk_errors():
                os.replace(temporary, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
        return path

    @contextlib.contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise disk_error(error, self.folder) from error

    def trim(self) -> int:
        """Remove the least recently used entries until the cache fits; returns how many."""
        entries = []
        for path in self.folder.glob("*/*.o"):
            with contextlib.suppress(OSError):
                status = path.stat()
                entries.append((status.st_mtime_ns, status.st_size, path))
        excess, removed = sum(size for _, size, _ in entries) - self.limit_bytes, 0
        for _, size, path in sorted(entries):
            if excess <= 0:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                removed += 1
            excess -= size
        return removed


def disk_error(error: OSError, folder: Path) -> CompileError | DiskFullError:
    """The error for the user when the cache folder cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFullError(
            "no space left for compiled objects",
            thing=str(folder),
            hint="free some space, or set CUVIL_CACHE_DIR to a folder on another disk",
        )
    return CompileError(
        "cannot write compiled objects",
        thing=str(folder),
        found=error.strerror or str(error),
        hint="set CUVIL_CACHE_DIR to a folder that you can write",
    )
