"""The byte streams that SSH runs on: a TCP connection, or the pipe of a ProxyCommand."""

from __future__ import annotations

import contextlib
import socket
import subprocess

from cuvil_edge.errors import ConnectError

LINK_DEAD_MILLISECONDS = 30_000


class ProxyProcess:
    """A running ProxyCommand; ``link`` is our end of its input and output."""

    def __init__(self, command: str) -> None:
        self.link, theirs = socket.socketpair()
        with theirs:
            # As ssh does it: a line for a shell, from the user's own configuration.
            self._process = subprocess.Popen(
                ["sh", "-c", f"exec {command}"],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
            )

    def close(self) -> None:
        """End the command."""
        self.link.close()
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)


def open_socket(hostname: str, port: int, timeout_seconds: float) -> socket.socket:
    """A connected TCP socket; ConnectError says why there is none."""
    thing = f"{hostname} port {port}"
    try:
        link = socket.create_connection((hostname, port), timeout=timeout_seconds)
    except socket.gaierror:
        hint = "check the spelling; is the device on, and on this network? Its IP address works too"
        raise ConnectError("no device has this name", thing=hostname, hint=hint) from None
    except ConnectionRefusedError:
        hint = "the device is up, but no SSH server listens there: is sshd running, and is the port right?"
        raise ConnectError("the connection was refused", thing=thing, hint=hint) from None
    except TimeoutError:
        hint = "is the device on and on this network, and is a firewall in between?"
        raise ConnectError(f"no answer within {timeout_seconds:g} s", thing=thing, hint=hint) from None
    except (OSError, UnicodeError) as error:
        found = getattr(error, "strerror", None) or str(error)
        raise ConnectError(
            "the device cannot be reached", thing=thing, found=found, hint="is the network up?"
        ) from None
    with contextlib.suppress(OSError, AttributeError):
        # Our messages are small and wait for answers: without this, each costs a delayed acknowledgement of 40 ms.
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Keepalives are sent; unanswered ones must end the connection, not only a write that never comes.
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, LINK_DEAD_MILLISECONDS)
    return link
