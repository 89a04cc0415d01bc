"""Weights that a model keeps in other files, read so that a hostile model reaches nothing outside its own folder.

Each component of the path is opened by itself without following links, relative to the folder's own descriptor; what is
open is then checked, so there is no moment between check and use.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping

import numpy as np

from cuvil_edge.errors import ModelError

_HINT = "external data must be regular files beside the model or in folders below; copy them there"


class ModelFolder:
    """The folder of a model file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.digest = hashlib.sha256()
        """Grows with everything that was read."""
        self.was_read = False

    def read(self, entries: Mapping[str, str], expected_bytes: int) -> np.ndarray:
        """The bytes of one tensor, as uint8.

        Args:
            entries: the keys ``location``, ``offset`` and ``length`` of the tensor's external data.
            expected_bytes: what the tensor's shape needs.
        """
        location = entries.get("location", "")
        offset, length = _number(entries, "offset", 0), _number(entries, "length", expected_bytes)
        if length != expected_bytes:
            raise ModelError(
                "a tensor's external data has a wrong size",
                thing=location,
                expected=f"{expected_bytes} bytes",
                found=f"{length} bytes",
            )
        descriptor = self._open(location)
        try:
            size = _checked_size(descriptor, location)
            if offset + length > size:
                found = f"bytes {offset} to {offset + length} of {size}"
                raise ModelError("external data reaches beyond the end of its file", thing=location, found=found)
            data = _read_all(descriptor, offset, length, location)
        finally:
            os.close(descriptor)
        self.was_read = True
        self.digest.update(data.data)
        return data

    def _open(self, location: str) -> int:
        parts = location.split("/")
        if not location or location.startswith("/") or "\0" in location or any(p in ("", ".", "..") for p in parts):
            raise ModelError("external data lies outside the model's folder", thing=repr(location), hint=_HINT)
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            for index, part in enumerate(parts):
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
                flags |= os.O_DIRECTORY if index < len(parts) - 1 else 0
                try:
                    following = os.open(part, flags, dir_fd=descriptor)
                finally:
                    os.close(descriptor)
                descriptor = following
            return descriptor
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ModelError("cannot read external data", thing=location, found=reason, hint=_HINT) from None


def _number(entries: Mapping[str, str], key: str, default: int) -> int:
    text = entries.get(key)
    if text is None or text == "":
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 19:
        raise ModelError(f"{key} of external data is no size", found=repr(text[:40]))
    return int(text)


def _checked_size(descriptor: int, location: str) -> int:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise ModelError("external data is not a regular file", thing=location, hint=_HINT)
    if status.st_nlink > 1:
        raise ModelError("external data is a hard link to a file elsewhere", thing=location, hint=_HINT)
    return status.st_size


def _read_all(descriptor: int, offset: int, length: int, location: str) -> np.ndarray:
    try:
        data = np.empty(length, np.uint8)
    except MemoryError:
        raise ModelError("external data does not fit into memory", thing=location, found=f"{length} bytes") from None
    view, done = data.data, 0
    while done < length:
        count = os.preadv(descriptor, [view[done : done + (1 << 30)]], offset + done)
        if count == 0:
            raise ModelError("external data became shorter while it was read", thing=location)
        done += count
    return data
