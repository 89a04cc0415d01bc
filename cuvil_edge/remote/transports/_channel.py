"""Talking over an SSH channel with limits; the channel is only used through its methods."""

from __future__ import annotations

import contextlib
import select
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from cuvil_edge.remote.transports._base import CHUNK_BYTES, MAX_OUTPUT_BYTES, POLL_SECONDS, STDERR_TAIL_BYTES


def converse(channel: Any, stdin: bytes, deadline: float) -> tuple[bytes, bytes]:
    """Feed ``stdin``, collect both outputs until the program has ended; TimeoutError at the deadline."""
    stdout, stderr = bytearray(), bytearray()
    rest = memoryview(stdin)
    if stdin:
        channel.settimeout(0.0)
    ended_at: float | None = None
    while True:
        while channel.recv_ready():
            stdout += channel.recv(CHUNK_BYTES)
        while channel.recv_stderr_ready():
            stderr += channel.recv_stderr(CHUNK_BYTES)
            del stderr[:-STDERR_TAIL_BYTES]
        if len(stdout) > MAX_OUTPUT_BYTES:
            raise EOFError("the program sends without end")
        now = time.monotonic()
        ended_at = ended_at or (now if channel.exit_status_ready() else None)
        # A child that was left behind may hold the output open: what comes late is not waited for.
        if ended_at is not None and (channel.eof_received or channel.closed or now > ended_at + POLL_SECONDS):
            if not channel.recv_ready() and not channel.recv_stderr_ready():
                return bytes(stdout), bytes(stderr)
            continue
        if now >= deadline:
            raise TimeoutError
        if rest:
            with contextlib.suppress(TimeoutError, OSError):
                rest = rest[channel.send(rest[:CHUNK_BYTES].tobytes()) :]
        if not rest:
            channel.shutdown_write()
        # After the end of output the channel always reads as ready, and there is nothing to wait on but the status.
        select.select([channel], [], [], 0.005 if rest else 0.05)
        if channel.eof_received:
            time.sleep(0.005)


def send_all(channel: Any, data: bytes) -> None:
    """``sendall`` that tells a program which has ended (BrokenPipeError) from other troubles."""
    try:
        channel.sendall(data)
    except TimeoutError:
        raise
    except OSError:
        if channel.get_transport().is_active():
            raise BrokenPipeError from None
        raise


@contextlib.contextmanager
def closing_after(channel: Any, seconds: float) -> Iterator[threading.Event]:
    """Close ``channel`` unless the block ends within ``seconds``; the event tells that it was closed."""
    expired = threading.Event()

    def expire() -> None:
        expired.set()
        close_all([channel])

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


def close_all(things: Sequence[Any]) -> None:
    """Close in the opposite order of opening, whatever happens."""
    for thing in reversed(things):
        if thing is not None:
            with contextlib.suppress(Exception):
                thing.close()
