"""Small shell scripts on a device: POSIX sh, as busybox has it, without /proc or /sys."""

from __future__ import annotations

import secrets

from cuvil_edge.remote.outcome import failure
from cuvil_edge.remote.transports._base import Transport, shell


def run_script(
    transport: Transport, script: str, *arguments: str, what: str, timeout_seconds: float | None = None
) -> list[str]:
    """Run ``script`` with ``arguments`` as $1, $2, ... and return the lines of its output.

    What the login shell prints by itself (a greeting in .bashrc) comes before and is left out.

    Raises:
        RemoteError: the script failed; ``what`` is the clause of the message.
    """
    mark = f"begin-{secrets.token_hex(8)}"
    argv = shell(f'echo "$1"; shift\n{script}', mark, *arguments)
    done = transport.run(argv, timeout_seconds=timeout_seconds)
    if done.exit_status != 0:
        raise failure(done, what, transport.label)
    lines = done.text.splitlines()
    return lines[lines.index(mark) + 1 :] if mark in lines else []
