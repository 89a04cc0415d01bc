from __future__ import annotations

import pytest

from cuvil_edge.errors import (
    CrashedError,
    DiskFullError,
    OutOfMemoryError,
    RemoteCommandError,
    RemoteError,
    WrongArchitectureError,
)
from cuvil_edge.remote.outcome import crashed, failure, killed_for_memory
from cuvil_edge.remote.transports._base import Completed
from cuvil_edge.remote.transports.local import LocalTransport


@pytest.mark.parametrize(
    ("status", "words", "family"),
    [
        (1, "cat: write error: No space left on device", DiskFullError),
        (1, "write: Disk quota exceeded", DiskFullError),
        (126, "sh: 1: ./model: Exec format error", WrongArchitectureError),
        (126, "bash: ./model: cannot execute binary file: Exec format error", WrongArchitectureError),
        (2, './model: 1: Syntax error: "(" unexpected', WrongArchitectureError),
        (127, "sh: ./model: cannot execute: required file not found", WrongArchitectureError),
        (1, "fork: Cannot allocate memory", OutOfMemoryError),
        (126, "sh: ./model: Permission denied", RemoteCommandError),
        (1, "mkdir: can't create directory '.cuvil': Read-only file system", RemoteCommandError),
        (1, "", RemoteCommandError),
    ],
)
def test_words_have_their_errors(status: int, words: str, family: type[RemoteError]) -> None:
    error = failure(Completed(("x",), status, b"", words.encode()), "it failed", "pi")
    assert type(error) is family
    assert error.thing == "pi"
    assert error.found == (words or "exit status 1")


def test_permission_has_advice() -> None:
    for status, words in ((126, "Permission denied"), (1, "Permission denied"), (1, "Read-only file system")):
        error = failure(Completed(("x",), status, b"", words.encode()), "it failed", "pi")
        assert "--root" in (error.hint or "")


def test_signal_comes_before_words() -> None:
    done = Completed(("x",), 137, b"", b"No space left on device", "SIGKILL")
    assert isinstance(failure(done, "it failed", "pi"), CrashedError)
    for name in ("SIGILL", "SIGKILL", "SIGSEGV", "SIGBUS", "SIGABRT"):
        assert crashed(name, "pi").hint
    assert crashed("signal 77", "pi").hint is None


def test_kernels_words_must_name_the_process(local: LocalTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = local.home / "programs"
    programs.mkdir()
    (programs / "dmesg").write_text("#!/bin/sh\necho 'Out of memory: Killed process 12 (model) total-vm'\n")
    (programs / "dmesg").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    assert "Killed process 12" in (killed_for_memory(local, 12) or "")
    assert killed_for_memory(local, 1) is None
    assert killed_for_memory(local, None) is None
