"""Reaching a device: the arguments that name one, and the connection that they mean."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from cuvil_edge.cli._arguments import seconds
from cuvil_edge.errors import UsageError

if TYPE_CHECKING:
    from cuvil_edge.board.device import Device
    from cuvil_edge.remote.transports._base import Timeouts, Transport

_COMMAND_SECONDS = 60.0


def add_device(parser: argparse.ArgumentParser, *, with_name: bool) -> None:
    """How to reach a device; ``with_name`` adds ``--device`` where it is no positional argument."""
    group = parser.add_argument_group("device")
    if with_name:
        group.add_argument("--device", metavar="NAME", help="one of 'cuvil-edge devices'")
    group.add_argument("--host", metavar="USER@ADDRESS:PORT", help="its address, or an alias of ~/.ssh/config")
    group.add_argument("--identity", metavar="FILE", type=Path, help="a private key to log in with")
    group.add_argument("--ssh-config", metavar="FILE", type=Path, help="read it instead of ~/.ssh/config")
    group.add_argument(
        "--accept-new-host-key",
        action="store_true",
        help="record the key of a host that known_hosts does not have, and print its fingerprint",
    )
    group.add_argument("--root", metavar="DIR", help="folder for models on the device; default: .cuvil")
    group.add_argument(
        "--timeout",
        type=seconds,
        metavar="S",
        default=_COMMAND_SECONDS,
        help="limit of a short remote command, which all other limits follow in proportion; default: 60",
    )


def named_device(args: argparse.Namespace, name: str | None) -> Device | None:
    """The device that ``name`` or ``--host`` mean, None without either.

    Raises:
        UsageError: both are given, the name is unknown, or the address is none.
        ConfigError: a mistake in the devices file.
    """
    from cuvil_edge.board.device import find_device, parse_host

    if name is not None and args.host is not None:
        raise UsageError("two devices are given", found=f"{name} and --host {args.host}", hint="leave one of them out")
    if args.host is not None:
        return parse_host(args.host)
    return None if name is None else find_device(args.config, name)


def device_root(args: argparse.Namespace, device: Device) -> str:
    """The folder for models on the device: ``--root``, that of the devices file, or the default."""
    from cuvil_edge.remote.layout import DEFAULT_ROOT

    return args.root or device.root or DEFAULT_ROOT


def timeouts_of(args: argparse.Namespace) -> Timeouts:
    """All limits, in proportion to ``--timeout``."""
    from cuvil_edge.remote.transports._base import Timeouts

    scale = args.timeout / _COMMAND_SECONDS
    usual = Timeouts()
    return Timeouts(**{field.name: getattr(usual, field.name) * scale for field in fields(usual)})


def connect_device(args: argparse.Namespace, device: Device) -> Transport:
    """An SSH connection. Raises as ``SshTransport.connect``, and UsageError for a missing key or ssh_config."""
    from cuvil_edge.remote.device_session import connect

    for flag, path in (("--identity", args.identity), ("--ssh-config", args.ssh_config)):
        if path is not None and not path.is_file():
            raise UsageError("there is no such file", thing=f"{flag} {path}")
    with _config_file(args.ssh_config, args.identity) as config_file:
        return connect(
            device,
            ssh_config=config_file,
            accept_new_host_key=args.accept_new_host_key,
            timeouts=timeouts_of(args),
        )


@contextmanager
def _config_file(ssh_config: Path | None, identity: Path | None) -> Iterator[Path | None]:
    """The ssh_config to read: with ``--identity``, one that names that key and then includes the user's."""
    if identity is None:
        yield ssh_config
        return
    if any(c in str(identity.absolute()) for c in '"\n'):
        raise UsageError("the path of the key has a quote or a line end in it", thing=f"--identity {identity}")
    usual = (ssh_config or Path("~/.ssh/config").expanduser()).absolute()
    lines = ["Host *", f'  IdentityFile "{identity.absolute()}"', "  IdentitiesOnly yes"]
    with tempfile.TemporaryDirectory(prefix="cuvil-ssh-") as folder:
        path = Path(folder) / "config"
        path.write_text("\n".join([*lines, f'Include "{usual}"', ""]), encoding="utf-8")
        yield path


def accepted_host_key(transport: Transport) -> str | None:
    """The fingerprint of a host key that this connection recorded as new."""
    return getattr(transport, "accepted_host_key", None)
