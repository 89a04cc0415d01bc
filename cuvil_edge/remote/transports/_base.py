"""What every way to a device offers: run a program, talk with one line by line, put and get files."""

from __future__ import annotations

import shlex
import signal as signal_numbers
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import ClassVar, TypeVar

from cuvil_edge.errors import DiskFullError, RemoteCommandError, RemoteTimeoutError

Source = bytes | bytearray | memoryview | Path
"""What can be uploaded: bytes that are here already (such as a mapped artifact), or a local file."""

Progress = Callable[[int, int], None]
"""Called with (bytes sent so far, bytes in total) while a file is sent."""

CHUNK_BYTES = 1 << 17
MAX_LINE_BYTES = 256 << 20
MAX_OUTPUT_BYTES = 1 << 30
STDERR_TAIL_BYTES = 1 << 16
POLL_SECONDS = 0.5

_Self = TypeVar("_Self", bound="Transport")


@dataclass(frozen=True)
class Timeouts:
    """Limits of remote steps, in seconds. No step waits without one."""

    connect_seconds: float = 15.0
    """For each of: TCP connection, SSH greeting and key exchange, authentication."""
    command_seconds: float = 60.0
    """A short command (a file operation, gathering facts)."""
    stall_seconds: float = 60.0
    """The longest time that an upload may make no progress."""
    agent_start_seconds: float = 120.0
    """From starting the agent until it has mapped its weights and says so."""
    run_seconds: float = 900.0
    """One request to the agent: a verification or a measurement."""
    lock_seconds: float = 120.0
    """Waiting for another deployment to the same device."""


@dataclass(frozen=True)
class Completed:
    """A program that has ended.

    ``exit_status`` is what it returned; ``signal`` the name of the signal that ended it ("SIGKILL"), then the status is
    128 plus its number, as shells count.
    """

    argv: tuple[str, ...]
    exit_status: int
    stdout: bytes
    stderr: bytes
    signal: str | None = None

    @property
    def text(self) -> str:
        """The standard output as text."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def error_text(self) -> str:
        """The end of the error output as text, without surrounding blanks."""
        return self.stderr.decode("utf-8", "replace").strip()[-2000:]


def shell_line(argv: Sequence[str]) -> str:
    """The one place where an argument list becomes text for a POSIX shell.

    Raises:
        TypeError: ``argv`` is a single string, empty, or holds something that is not text.
        ValueError: an argument holds a NUL, which no program can be given.
    """
    if isinstance(argv, str) or not argv:
        raise TypeError(f"expected a list of arguments, found {argv!r}")
    for argument in argv:
        if not isinstance(argument, str):
            raise TypeError(f"expected text arguments, found {argument!r}")
        if "\0" in argument:
            raise ValueError(f"an argument holds a NUL: {argument!r}")
    return shlex.join(argv)


def shell(script: str, *arguments: str) -> tuple[str, ...]:
    """Arguments that run a fixed ``script`` with ``arguments`` as $1, $2, ...; values never go into the script."""
    return ("sh", "-c", script, "sh", *arguments)


def signal_name(number: int) -> str:
    """``9`` is ``SIGKILL``; numbers without a name are ``signal 77``."""
    try:
        return signal_numbers.Signals(number).name
    except ValueError:
        return f"signal {number}"


def signal_from_status(status: int) -> str | None:
    """The signal behind a status of a shell (128 + number), None for an ordinary status."""
    return signal_name(status - 128) if 128 < status <= 128 + 64 else None


def source_bytes(source: Source) -> int:
    """The size of ``source`` in bytes."""
    return source.stat().st_size if isinstance(source, Path) else memoryview(source).nbytes


def chunks(source: Source) -> Iterator[memoryview]:
    """``source`` in pieces of at most 128 KiB."""
    if isinstance(source, Path):
        with source.open("rb") as handle:
            while data := handle.read(CHUNK_BYTES):
                yield memoryview(data)
        return
    view = memoryview(source).cast("B") if memoryview(source).nbytes else memoryview(b"")
    for start in range(0, len(view), CHUNK_BYTES):
        yield view[start : start + CHUNK_BYTES]


class RemoteProcess(ABC):
    """A running program that is talked to line by line. Used from one thread, except ``send_line`` and ``close``."""

    def __init__(self, argv: Sequence[str], label: str) -> None:
        self.argv = tuple(argv)
        self.label = label
        self._buffer = bytearray()
        self._searched = 0

    @abstractmethod
    def send_line(self, line: str, *, timeout_seconds: float) -> None:
        """Send ``line`` and a line end.

        Raises:
            LinkLostError: the connection broke, or the program does not read any more.
            RemoteTimeoutError: the program took nothing for ``timeout_seconds``.
        """

    @abstractmethod
    def _receive(self, timeout_seconds: float) -> bytes | None:
        """Bytes of the standard output, b"" at its end, None when nothing came within ``timeout_seconds``."""

    @abstractmethod
    def wait(self, *, timeout_seconds: float) -> Completed:
        """Wait for the end; ``stdout`` holds what was not read as lines, ``stderr`` the last 64 KiB.

        Raises:
            LinkLostError: the connection broke before the end was known.
            RemoteTimeoutError: the program did not end in time.
        """

    @abstractmethod
    def close(self) -> None:
        """End the conversation; where the transport can, the program too. Never raises, never waits long."""

    def read_line(self, *, timeout_seconds: float) -> str | None:
        """The next line without its end, None at the end of output (a last line without an end counts as a line).

        Raises:
            LinkLostError: the connection broke.
            RemoteTimeoutError: no whole line came in time.
            RemoteCommandError: a line longer than 256 MiB: this is not our program talking.
        """
        deadline = time.monotonic() + timeout_seconds
        while True:
            end = self._buffer.find(b"\n", self._searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                return line.decode("utf-8", "replace")
            self._searched = len(self._buffer)
            if self._searched > MAX_LINE_BYTES:
                raise RemoteCommandError("the program sends an endless line", thing=self.label)
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise self._timed_out("answered nothing", timeout_seconds)
            data = self._receive(min(remaining, POLL_SECONDS))
            if data == b"":
                rest = bytes(self._buffer)
                self._buffer.clear()
                self._searched = 0
                return rest.decode("utf-8", "replace") if rest else None
            if data:
                self._buffer += data

    def _timed_out(self, what: str, timeout_seconds: float) -> RemoteTimeoutError:
        return command_timeout(self.label, self.argv, what, timeout_seconds)

    def __enter__(self) -> RemoteProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def command_timeout(label: str, argv: Sequence[str], what: str, timeout_seconds: float) -> RemoteTimeoutError:
    """The error of a command that took too long."""
    shown = " ".join(argv).split("\n", 1)[0]
    return RemoteTimeoutError(
        f"a command {what} for {timeout_seconds:g} s",
        thing=label,
        found=shown if len(shown) <= 120 else shown[:117] + "...",
        hint="is the device under heavy load, out of memory, or its link slow? --timeout sets a longer limit",
    )


@dataclass
class Transport(ABC):
    """A way to one device. Close it, or use it as a context manager.

    ``label`` names the device in messages. Paths that are not absolute start at the user's home on the device.
    Commands may run at the same time from several threads.
    """

    kind: ClassVar[str]
    """``ssh``, ``local`` or ``emulator``; stored in profiles."""
    unit: ClassVar[str] = "ns"
    """What a measurement over this transport counts: ``ns``, or ``instructions`` where time would mean nothing."""

    label: str
    timeouts: Timeouts = field(default_factory=Timeouts, kw_only=True)

    @property
    def known_facts(self) -> Mapping[str, object]:
        """Facts that the transport knows better than the commands on the device (None: cannot be known)."""
        return MappingProxyType({})

    @abstractmethod
    def run(
        self, argv: Sequence[str], *, timeout_seconds: float | None = None, stdin: bytes | None = None
    ) -> Completed:
        """Run a program to its end. A failure of the program is in the result, not an exception.

        Raises:
            ConnectError, LinkLostError: the device cannot be reached any more.
            RemoteTimeoutError: it did not end within ``timeout_seconds`` (default: ``timeouts.command_seconds``).
        """

    @abstractmethod
    def start(self, argv: Sequence[str], *, directory: str | None = None) -> RemoteProcess:
        """Start a program that is talked to line by line, in ``directory`` on the device.

        Raises:
            ConnectError, LinkLostError, RemoteTimeoutError: as ``run``.
        """

    @abstractmethod
    def put(self, source: Source, path: str, *, progress: Progress | None = None) -> None:
        """Write ``source`` to ``path`` on the device, whose folder exists; the size is checked afterwards.

        Raises:
            DiskFullError: no space is left there.
            RemoteCommandError: the file cannot be written, or has another size than what was sent.
            LinkLostError, RemoteTimeoutError: the connection broke, or nothing moved for ``timeouts.stall_seconds``.
        """

    @abstractmethod
    def close(self) -> None:
        """Give everything back. Never raises; can be called again."""

    def get(self, path: str, *, timeout_seconds: float | None = None) -> bytes:
        """The contents of a file on the device.

        Raises:
            RemoteCommandError: there is no such file, or it cannot be read.
        """
        done = self.run(("cat", path), timeout_seconds=timeout_seconds or self.timeouts.run_seconds)
        if done.exit_status != 0:
            raise RemoteCommandError("cannot read a file", thing=f"{self.label}: {path}", found=done.error_text)
        return done.stdout

    def write_failure(self, path: str, wanted_bytes: int, found: str) -> DiskFullError | RemoteCommandError:
        """The error for a file that could not be written whole. Servers often say only "Failure": ask for the space."""
        free_bytes = self._free_bytes(path)
        full = any(text in found for text in ("No space left", "Disk quota exceeded", "ENOSPC"))
        if full or (free_bytes is not None and free_bytes < min(wanted_bytes, 1 << 16)):
            return DiskFullError(
                "no space left on the device",
                thing=f"{self.label}: {path}",
                expected=f"{wanted_bytes:,} bytes for this file",
                found=found if free_bytes is None else f"{free_bytes:,} bytes free",
                hint="free some space there, or choose another folder with --root",
            )
        hint = "is the folder writable for this user? Another one can be chosen with --root"
        return RemoteCommandError("cannot write a file", thing=f"{self.label}: {path}", found=found, hint=hint)

    def _free_bytes(self, path: str) -> int | None:
        done = self.run(("df", "-P", "-k", path.rpartition("/")[0] or "."), timeout_seconds=15)
        fields = done.text.strip().splitlines()[-1].split() if done.exit_status == 0 and done.text.strip() else []
        return int(fields[3]) * 1024 if len(fields) >= 5 and fields[3].isdigit() else None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
