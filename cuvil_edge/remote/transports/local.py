"""This machine as the device: programs are started here, files are copied here."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar

from cuvil_edge.errors import LinkLostError, RemoteCommandError
from cuvil_edge.remote.transports._base import (
    CHUNK_BYTES,
    STDERR_TAIL_BYTES,
    Completed,
    Progress,
    RemoteProcess,
    Source,
    Transport,
    chunks,
    command_timeout,
    shell_line,
    signal_name,
    source_bytes,
)


@dataclass
class LocalTransport(Transport):
    """Runs on this machine. ``home`` is where relative paths start (the user's home unless given)."""

    kind: ClassVar[str] = "local"

    label: str = "this machine"
    home: Path = field(default_factory=Path.home)

    def run(
        self, argv: Sequence[str], *, timeout_seconds: float | None = None, stdin: bytes | None = None
    ) -> Completed:
        """As ``Transport.run``; what still runs at the end of the time is killed, with its children."""
        limit = self.timeouts.command_seconds if timeout_seconds is None else timeout_seconds
        try:
            process = self._popen(argv, None, subprocess.PIPE)
        except OSError as error:
            return _not_started(argv, error)
        try:
            stdout, stderr = process.communicate(stdin or b"", timeout=limit)
        except subprocess.TimeoutExpired:
            raise command_timeout(self.label, argv, "did not end", limit) from None
        finally:
            _kill_group(process)
        return _completed(argv, process.returncode, stdout, stderr)

    def start(self, argv: Sequence[str], *, directory: str | None = None) -> RemoteProcess:
        """As ``Transport.start``. A program that cannot be started is a process that ended with 126 or 127."""
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 (the process owns it)
        try:
            return _LocalProcess(argv, self.label, self._popen(argv, directory, stderr), stderr)
        except OSError as error:
            stderr.close()
            return _NotStarted(_not_started(argv, error), self.label)

    def put(self, source: Source, path: str, *, progress: Progress | None = None) -> None:
        """As ``Transport.put``."""
        total = source_bytes(source)
        sent = 0
        try:
            with (self.home / path).open("wb") as target:
                for chunk in chunks(source):
                    target.write(chunk)
                    sent += len(chunk)
                    if progress is not None:
                        progress(sent, total)
        except OSError as error:
            found = "No space left" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or str(error)
            raise self.write_failure(path, total, found) from None
        if (self.home / path).stat().st_size != total:
            raise RemoteCommandError("a file changed while it was copied", thing=path)

    def close(self) -> None:
        """Nothing is held between calls."""

    def command(self, argv: Sequence[str]) -> list[str]:
        """What is really started for ``argv``, whose program is an absolute path or a name."""
        return list(argv)

    def _popen(self, argv: Sequence[str], directory: str | None, stderr: int | IO[bytes]) -> subprocess.Popen[bytes]:
        shell_line(argv)
        where = self.home / directory if directory else self.home
        program = str((where / argv[0]).absolute()) if "/" in argv[0] else argv[0]
        return subprocess.Popen(
            self.command([program, *argv[1:]]),
            cwd=where,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            start_new_session=True,
        )


class _LocalProcess(RemoteProcess):
    def __init__(self, argv: Sequence[str], label: str, process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
        super().__init__(argv, label)
        self._process = process
        self._stderr = stderr

    def send_line(self, line: str, *, timeout_seconds: float) -> None:
        pipe = self._process.stdin
        data = memoryview(line.encode() + b"\n")
        deadline = time.monotonic() + timeout_seconds
        try:
            if pipe is None or pipe.closed:
                raise BrokenPipeError
            while data:
                _, writable, _ = select.select([], [pipe], [], max(0.0, deadline - time.monotonic()))
                if not writable:
                    raise self._timed_out("read nothing", timeout_seconds)
                # A pipe is writable when it takes PIPE_BUF bytes at once; more could block.
                data = data[os.write(pipe.fileno(), data[: select.PIPE_BUF]) :]
        except (BrokenPipeError, ValueError):
            raise LinkLostError("the program does not read its input any more", thing=self.label) from None

    def _receive(self, timeout_seconds: float) -> bytes | None:
        pipe = self._process.stdout
        if pipe is None or pipe.closed:
            return b""
        readable, _, _ = select.select([pipe], [], [], timeout_seconds)
        return os.read(pipe.fileno(), CHUNK_BYTES) if readable else None

    def wait(self, *, timeout_seconds: float) -> Completed:
        try:
            status = self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            raise self._timed_out("did not end", timeout_seconds) from None
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - STDERR_TAIL_BYTES))
        return _completed(self.argv, status, bytes(self._buffer), self._stderr.read())

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        _kill_group(self._process)
        if self._process.stdout is not None:
            self._process.stdout.close()


class _NotStarted(RemoteProcess):
    """A program that never ran, told as a shell tells it: by status and message."""

    def __init__(self, result: Completed, label: str) -> None:
        super().__init__(result.argv, label)
        self._result = result

    def send_line(self, line: str, *, timeout_seconds: float) -> None:
        raise LinkLostError("the program did not start", thing=self.label, found=self._result.error_text)

    def _receive(self, timeout_seconds: float) -> bytes | None:
        return b""

    def wait(self, *, timeout_seconds: float) -> Completed:
        return self._result

    def close(self) -> None:
        """Nothing runs."""


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End the process and whatever it left running in its session, and reap it."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)


def _completed(argv: Sequence[str], status: int, stdout: bytes, stderr: bytes) -> Completed:
    if status < 0:
        return Completed(tuple(argv), 128 - status, stdout, stderr, signal_name(-status))
    return Completed(tuple(argv), status, stdout, stderr)


def _not_started(argv: Sequence[str], error: OSError) -> Completed:
    status = 127 if error.errno == errno.ENOENT else 126
    return Completed(tuple(argv), status, b"", f"{argv[0]}: {error.strerror}".encode())
