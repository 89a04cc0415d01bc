"""Whether the key that a host shows is the one that the user trusts."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from cuvil_edge.errors import HostKeyError
from cuvil_edge.remote.transports._base import shell_line
from cuvil_edge.remote.transports._known_hosts import KnownKey, fingerprint, record
from cuvil_edge.remote.transports._ssh_settings import SshSettings


@dataclass(frozen=True)
class HostKey:
    """A public key as the SSH protocol carries it."""

    key_type: str
    data: bytes


def check_host_key(
    settings: SshSettings, name: str, known: Sequence[KnownKey], key: HostKey, accept_new: bool
) -> str | None:
    """Accept the key of a host or raise HostKeyError; the fingerprint of a newly recorded key, else None."""
    shown = fingerprint(key.data)
    file = settings.known_hosts_files[0]
    port = f" -p {settings.port}" if settings.port != 22 else ""
    encoded = base64.b64encode(key.data).decode()
    if revoked := next((k for k in known if k.marker == "@revoked" and k.key_base64 == encoded), None):
        raise HostKeyError("the host key is revoked", thing=name, found=f"{shown}, revoked in {revoked.place}")
    trusted = [k for k in known if not k.marker]
    if any(k.key_base64 == encoded and k.key_type == key.key_type for k in trusted):
        return None
    if trusted:
        same = next((k for k in trusted if k.key_type == key.key_type), trusted[0])
        raise HostKeyError(
            "the host key has CHANGED: another machine may be answering in its place",
            thing=name,
            expected=f"the {same.key_type} key in {same.place}",
            found=f"{key.key_type} {shown}",
            hint=f"if the device was installed anew, remove the old key with: "
            f"{shell_line(('ssh-keygen', '-f', str(file), '-R', name))}",
        )
    if accept_new:
        record(file, name, key.key_type, encoded)
        return shown
    add = f"ssh-keyscan{port} {settings.hostname} >> {file}"
    if settings.proxy_jump or settings.proxy_command:
        add = f"ssh {settings.address.host}"
    raise HostKeyError(
        "the host key is not known, and nothing else tells that this is the right device",
        thing=name,
        found=f"{key.key_type} {shown}",
        hint="compare the fingerprint with the one that the device shows "
        "(ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), "
        f"then add the key with: {add}   or repeat with --accept-new-host-key",
    )
