"""The user's known_hosts files: which host keys are trusted (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT)."""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import hmac
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuvil_edge.errors import HostKeyError


@dataclass(frozen=True)
class KnownKey:
    """One line: ``marker`` is "", "@revoked" or "@cert-authority"; ``place`` is ``file:line``."""

    marker: str
    hosts: str
    key_type: str
    key_base64: str
    place: str

    def is_for(self, name: str) -> bool:
        """Whether the line speaks of ``name`` ("host", or "[host]:port" for a port other than 22)."""
        if self.hosts.startswith("|1|"):
            return _hashed_host_is(self.hosts, name)
        patterns = self.hosts.lower().split(",")
        if any(p.startswith("!") and fnmatch.fnmatchcase(name.lower(), _glob(p[1:])) for p in patterns):
            return False
        return any(fnmatch.fnmatchcase(name.lower(), _glob(p)) for p in patterns)


def fingerprint(key: bytes) -> str:
    """As ``ssh-keygen -l`` shows a public key: ``SHA256:`` and base64 without padding."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")


def host_name(host: str, port: int) -> str:
    """How known_hosts spells a host and port."""
    return host if port == 22 else f"[{host}]:{port}"


def known_keys(files: Sequence[Path], name: str) -> list[KnownKey]:
    """The lines of ``files`` that speak of ``name``; files that do not exist are empty.

    Raises:
        HostKeyError: a file cannot be read. Damaged lines are passed over, as ssh does: they trust nobody.
    """
    return [key for file in files for key in _lines(file) if key.is_for(name)]


def key_types(keys: Sequence[KnownKey]) -> list[str]:
    """The types of the trusted keys, in their order: what to ask the host for first."""
    return list(dict.fromkeys(key.key_type for key in keys if not key.marker))


def record(file: Path, name: str, key_type: str, key_base64: str) -> None:
    """Append a trusted key, making the file (and its folder) private to the user when it is new.

    Raises:
        HostKeyError: the file cannot be written.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            file.touch(mode=0o600)
        old = file.read_bytes()
        start = "\n" if old and not old.endswith(b"\n") else ""
        with file.open("a", encoding="utf-8") as handle:
            handle.write(f"{start}{name} {key_type} {key_base64}\n")
    except OSError as error:
        raise HostKeyError("cannot record the host key", thing=str(file), found=error.strerror or str(error)) from None


def _lines(file: Path) -> Iterator[KnownKey]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise HostKeyError("cannot read known_hosts", thing=str(file), found=error.strerror or str(error)) from None
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        marker = fields.pop(0) if fields[0].startswith("@") else ""
        if len(fields) >= 3:
            yield KnownKey(marker, fields[0], fields[1], fields[2], f"{file}:{number}")


def _hashed_host_is(hosts: str, name: str) -> bool:
    parts = hosts.split("|")
    if len(parts) != 4:
        return False
    try:
        salt, digest = base64.b64decode(parts[2]), base64.b64decode(parts[3])
    except ValueError:
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode(), hashlib.sha1).digest(), digest)


def _glob(pattern: str) -> str:
    """ssh knows * and ?, but not [...]: its brackets stand around a host with a port."""
    return pattern.replace("[", "[[]")
