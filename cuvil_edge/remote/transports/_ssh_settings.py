"""What the user's ssh_config says about a device."""

from __future__ import annotations

import getpass
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuvil_edge.errors import ConfigError, UsageError

_MAX_INCLUDE_DEPTH = 16


@dataclass(frozen=True)
class Address:
    """``user@host:port`` as the user writes it; ``host`` may be a name in ssh_config."""

    host: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host and self.port else self.host
        return (f"{self.user}@" if self.user else "") + host + (f":{self.port}" if self.port else "")


@dataclass(frozen=True)
class SshSettings:
    """Where and how to connect, after ssh_config and the command line were put together."""

    address: Address
    hostname: str
    port: int
    user: str
    identity_files: tuple[Path, ...]
    identities_only: bool
    known_hosts_files: tuple[Path, ...]
    """The user's; the first one is where a new key is recorded."""
    system_known_hosts_files: tuple[Path, ...]
    host_key_alias: str | None
    proxy_jump: str | None
    proxy_command: str | None


def parse_address(text: str) -> Address:
    """``host``, ``user@host``, ``host:port``, ``user@host:port``, ``[v6]:port`` or the same after ``ssh://``.

    Raises:
        UsageError: there is no host, the port is no port, or it holds a password (which would be seen by everybody on
            this machine) or an option for ssh.
    """
    rest = text.strip().removeprefix("ssh://").rstrip("/")
    user, at, host = rest.rpartition("@")
    if ":" in user:
        raise UsageError(
            "a password cannot be given on the command line", hint="use a key: ssh-keygen, then ssh-copy-id user@host"
        )
    port_text = ""
    if host.startswith("["):
        host, bracket, port_text = host[1:].partition("]")
        port_text = port_text.removeprefix(":")
        host = host if bracket else ""
    elif host.count(":") == 1:
        host, _, port_text = host.partition(":")
    port = int(port_text) if port_text.isascii() and port_text.isdigit() else None
    bad_port = bool(port_text) and (port is None or not 0 < port < 65536)
    bad_name = not host or host.startswith("-") or user.startswith("-") or any(c.isspace() or ord(c) < 32 for c in rest)
    if bad_port or bad_name or (at and not user):
        raise UsageError(
            "this is not the address of a device",
            thing=text,
            expected="user@host, user@host:port, or a Host of ~/.ssh/config",
        )
    return Address(host, user or None, port)


def read_config(file: Path, *, depth: int = 0) -> str:
    """The text of an ssh_config with its ``Include`` files put in place; a file that does not exist is empty.

    Raises:
        ConfigError: a file cannot be read, or includes go in a circle.
    """
    if depth > _MAX_INCLUDE_DEPTH:
        raise ConfigError("Include goes deeper than 16 files", thing=str(file), hint="does it include itself?")
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise ConfigError("cannot read ssh_config", thing=str(file), found=error.strerror or str(error)) from None
    lines = []
    for line in text.splitlines():
        words = line.strip().replace("=", " ", 1).split(None, 1)
        if len(words) == 2 and words[0].lower() == "include":
            for pattern in shlex.split(words[1]):
                lines += [read_config(found, depth=depth + 1) for found in _included(file, pattern)]
        else:
            lines.append(line)
    return "\n".join(lines)


def _included(file: Path, pattern: str) -> list[Path]:
    path = Path(pattern).expanduser()
    path = path if path.is_absolute() else file.parent / path
    return sorted(p for p in Path(path.anchor).glob(str(path.relative_to(path.anchor))) if p.is_file())


def settings_from(address: Address, found: Mapping[str, Any], file: Path) -> SshSettings:
    """Settings from the looked-up keys of an ssh_config (lower-case, as text); the command line comes first.

    Raises:
        ConfigError: a value is not what ssh_config allows.
    """
    port_text = str(found.get("port", "22"))
    if not port_text.isdigit() or not 0 < int(port_text) < 65536:
        raise ConfigError("Port is not a port", thing=f"{file}: Host {address.host}", found=port_text)
    known = _paths(found.get("userknownhostsfile")) or [Path("~/.ssh/known_hosts"), Path("~/.ssh/known_hosts2")]
    system = _paths(found.get("globalknownhostsfile")) or [Path("/etc/ssh/ssh_known_hosts")]
    return SshSettings(
        address=address,
        hostname=str(found.get("hostname", address.host)),
        port=address.port or int(port_text),
        user=address.user or str(found.get("user") or getpass.getuser()),
        identity_files=tuple(Path(p).expanduser() for p in found.get("identityfile", []) if p.lower() != "none"),
        identities_only=str(found.get("identitiesonly", "no")).lower() == "yes",
        known_hosts_files=tuple(p.expanduser() for p in known),
        system_known_hosts_files=tuple(p.expanduser() for p in system),
        host_key_alias=found.get("hostkeyalias"),
        proxy_jump=_proxy(found.get("proxyjump")),
        proxy_command=_proxy(found.get("proxycommand")),
    )


def _paths(value: str | None) -> list[Path]:
    if not value:
        return []
    whole = Path(value)
    # The parser takes the quotes away from a value that is one quoted path.
    return [whole] if whole.expanduser().exists() else [Path(part) for part in shlex.split(value)]


def _proxy(value: str | None) -> str | None:
    return None if value is None or value.lower() == "none" else value
