"""Devices: machines that a user can reach, from the user's own ``devices.toml`` or from ``--host``.

The file has one table a device, and no secrets::

    [kitchen]
    host = "192.168.1.20"      # a name or address, or an alias of ~/.ssh/config
    user = "pi"                # optional, as are all the others
    port = 22
    board = "raspberry-pi-5"
    root = ".cuvil"            # where releases are kept; relative to the user's home folder
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cuvil_edge.board.board import board_names
from cuvil_edge.config import Config
from cuvil_edge.errors import ConfigError, DiskFullError, UsageError
from cuvil_edge.fields import Fields
from cuvil_edge.target.data import read_toml, unknown_name

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_HOST: Final = re.compile(r"[A-Za-z0-9_:](?:[A-Za-z0-9._:%-]{0,252})")
_USER: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._$+\\@-]{0,127})")
_SECRET_KEY: Final = re.compile(r"pass|secret|token|private|pwd|credential", re.IGNORECASE)
_KEY_FILE: Final = re.compile(r"identity|key", re.IGNORECASE)
_NO_SECRETS: Final = "delete it: cuvil-edge logs in with the keys and the agent of ssh (ssh-copy-id USER@HOST)"
_SSH_CONFIG: Final = "name the key in ~/.ssh/config (IdentityFile), and put the alias from there into host"
_HOST_FORM: Final = "USER@ADDRESS:PORT, where user and port may be left out and an IPv6 address with a port is in [ ]"


@dataclass(frozen=True)
class Device:
    """A machine that can be reached. What is None is left to the user's ssh_config, or asked from the device."""

    name: str
    host: str
    user: str | None = None
    port: int | None = None
    board: str | None = None
    root: str | None = None

    @property
    def address(self) -> str:
        """``user@host:port`` as far as they are given; ``parse_host`` reads it back."""
        host = f"[{self.host}]" if ":" in self.host and self.port is not None else self.host
        return (f"{self.user}@" if self.user else "") + host + (f":{self.port}" if self.port is not None else "")


def devices_path(config: Config) -> Path:
    """The user's devices file."""
    return config.config_dir / "devices.toml"


def parse_host(text: str) -> Device:
    """The device that ``user@addr:port`` means; its name is the address.

    Raises:
        UsageError: not of that form, or with a password in it (which the message does not repeat).
    """
    rest = text.strip().removeprefix("ssh://").removesuffix("/")
    user, at, place = rest.rpartition("@")
    if ":" in user:
        raise UsageError("a password does not belong here", thing="host", expected=_HOST_FORM, hint=_NO_SECRETS)
    host, port = _split_port(place)
    if (at and not _USER.fullmatch(user)) or not _HOST.fullmatch(host):
        raise _bad_host(text)
    if port is not None and (not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65535):
        raise UsageError(
            "the port is not a number from 1 to 65535", thing=text, expected=_HOST_FORM, found=port or "nothing"
        )
    return Device(name=host, host=host, user=user or None, port=int(port) if port else None)


def _split_port(place: str) -> tuple[str, str | None]:
    if match := re.fullmatch(r"\[([^\]]*)\](?::(.*))?", place):
        return match[1], match[2]
    if place.count(":") == 1:
        host, _, port = place.partition(":")
        return host, port
    return place, None


def _bad_host(text: str) -> UsageError:
    return UsageError("this is not an address", thing="host", expected=_HOST_FORM, found=f'"{text[:80]}"')


def load_devices(config: Config) -> dict[str, Device]:
    """The user's devices by name, in the order of the file; empty if there is no file.

    Raises:
        ConfigError: a mistake in the file, named by file and key; a secret in it (which the message does not repeat).
    """
    path = devices_path(config)
    if not path.exists():
        return {}
    top = read_toml(path, str(path))
    return {name: _device(name, top) for name in top.names()}


def find_device(config: Config, name: str) -> Device:
    """The user's device of that name; raises UsageError for an unknown one, with the nearest known."""
    devices = load_devices(config)
    if name not in devices:
        error = unknown_name(name, devices, "device")
        hint = error.hint or f"add it to {devices_path(config)}, or give its address with --host USER@ADDRESS"
        raise UsageError(error.what, thing=name, expected=error.expected if devices else None, hint=hint)
    return devices[name]


def save_device(config: Config, device: Device) -> None:
    """Adds the device to the user's file, or replaces the one of its name; the rest of the file stays as it is.

    Raises:
        ConfigError: the device or the file is not valid, or the file cannot be written.
        DiskFullError: no space.
    """
    path = devices_path(config)
    lines = [f"[{device.name}]"]
    for key in ("host", "user", "port", "board", "root"):
        value = getattr(device, key)
        if value is not None:
            lines.append(f"{key} = {value if isinstance(value, int) else json.dumps(value, ensure_ascii=False)}")
    if not _NAME.fullmatch(device.name):
        raise _bad_name(device.name, str(path))
    _device(device.name, Fields({device.name: _as_table(device)}, str(path)))
    load_devices(config)
    rest = _without_table(_read(path), device.name).rstrip("\n")
    _write(path, (rest + "\n\n" if rest else "") + "\n".join(lines) + "\n")


def remove_device(config: Config, name: str) -> None:
    """Takes a device out of the user's file; raises UsageError if it is not there."""
    find_device(config, name)
    path = devices_path(config)
    _write(path, _without_table(_read(path), name))


def _as_table(device: Device) -> dict[str, object]:
    pairs = ((key, getattr(device, key)) for key in ("host", "user", "port", "board", "root"))
    return {key: value for key, value in pairs if value is not None}


def _device(name: str, top: Fields) -> Device:
    if not _NAME.fullmatch(name):
        raise _bad_name(name, top.where())
    fields: Fields = top.section(name)
    for key in fields.names():
        if _SECRET_KEY.search(key):
            raise fields.fault(key, "is a secret, and secrets do not belong in this file", hint=_NO_SECRETS)
        if _KEY_FILE.search(key):
            raise fields.fault(key, "is not a known key", hint=_SSH_CONFIG)
    device = Device(
        name=name,
        host=fields.text("host", pattern=_HOST, expected="a name or address"),
        user=fields.text("user", None, pattern=_USER, expected="a user name"),
        port=fields.integer("port", None, minimum=1, maximum=65535),
        board=fields.text("board", None, choices=board_names()),
        root=_root(fields),
    )
    fields.refuse_unknown()
    return device


def _bad_name(name: str, source: str) -> ConfigError:
    return ConfigError(
        "is not a name for a device", thing=f"{source}: {name}", expected="letters, digits, _ and - (at most 64)"
    )


def _root(fields: Fields) -> str | None:
    root: str | None = fields.text("root", None)
    if root is None:
        return None
    is_safe = not any(ord(c) < 32 or ord(c) == 127 for c in root) and ".." not in root.split("/")
    if not is_safe or root.startswith(("~", "-")) or not root.strip("/."):
        raise fields.fault(
            "root",
            "has a wrong value",
            expected="a folder of its own, absolute or relative to the user's home folder, without ..",
            found=f'"{root[:80]}"' if is_safe else None,
            hint='leave it out for the default, ".cuvil"',
        )
    return root


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.exists() else ""
    except OSError as error:
        raise ConfigError("cannot be read", thing=str(path), found=error.strerror) from None


def _without_table(text: str, name: str) -> str:
    header = re.compile(r"\s*\[\s*(?:" + "|".join((re.escape(name), f'"{name}"', f"'{name}'")) + r")\s*\]\s*(#.*)?")
    kept: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            inside = header.fullmatch(line) is not None
        if not inside:
            kept.append(line)
    return "\n".join(kept) + "\n" if kept else ""


def _write(path: Path, text: str) -> None:
    temporary = path.parent / f".{path.name}-{secrets.token_hex(8)}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError("no space left", thing=str(path), found=error.strerror) from None
        raise ConfigError("cannot be written", thing=str(path), found=error.strerror or str(error)) from None
