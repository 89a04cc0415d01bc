"""From how a program on a device ended to an error with a name."""

from __future__ import annotations

from cuvil_edge.errors import (
    CrashedError,
    DiskFullError,
    OutOfMemoryError,
    RemoteCommandError,
    RemoteError,
    WrongArchitectureError,
)
from cuvil_edge.remote.transports._base import Completed, Transport

_SIGNAL_HINTS = {
    "SIGILL": "the program met an instruction that this CPU does not have: was it compiled for another board?",
    "SIGKILL": "the device killed it, most often because memory ran out (dmesg on the device tells)",
    "SIGSEGV": "this is a bug in the program or a fault of the device's memory; please report it with the model's name",
    "SIGBUS": "a file could not be read while it was mapped: is the storage (SD card) damaged or full?",
    "SIGTERM": "somebody on the device ended it",
    "SIGHUP": "the session on the device was closed",
    "SIGABRT": "the program found a fault in itself; its last words are above",
}
_OUT_OF_MEMORY = ("out of memory", "cannot allocate memory", "oom-kill", "oom_kill")
_WRONG_ARCHITECTURE = (
    "exec format error",
    "cannot execute binary file",
    "cannot execute: required file not found",
    "syntax error",
    "invalid elf image",
)


def failure(done: Completed, what: str, thing: str) -> RemoteError:
    """The error for a program that did not succeed; ``what`` is the clause for when there is no better name."""
    text = done.error_text
    last = text.splitlines()[-1] if text else f"exit status {done.exit_status}"
    lower = text.lower()
    if done.signal is not None:
        return crashed(done.signal, thing, text)
    if "no space left" in lower or "disk quota exceeded" in lower:
        advice = "free some space there, or choose another folder with --root"
        return DiskFullError("no space left on the device", thing=thing, found=last, hint=advice)
    if done.exit_status in (2, 126, 127) and any(part in lower for part in _WRONG_ARCHITECTURE):
        advice = "compile for this device: --board names it (cuvil-edge boards lists them)"
        return WrongArchitectureError(
            "the program is not for this device's CPU or system", thing=thing, found=last, hint=advice
        )
    if any(part in lower for part in _OUT_OF_MEMORY):
        return OutOfMemoryError("the device has not enough memory", thing=thing, found=last)
    hint: str | None = None
    if done.exit_status == 126 and "permission denied" in lower:
        hint = "is that file system mounted noexec? Choose another folder with --root"
    elif "permission denied" in lower or "read-only file system" in lower:
        hint = "this user may not write there; choose another folder with --root"
    return RemoteCommandError(what, thing=thing, found=last, hint=hint)


def crashed(signal: str, thing: str, words: str = "") -> CrashedError:
    """The error for a program that a signal ended."""
    return CrashedError(
        f"the program on the device was ended by {signal}",
        thing=thing,
        found=words.splitlines()[-1] if words else None,
        hint=_SIGNAL_HINTS.get(signal),
    )


def killed_for_memory(transport: Transport, pid: int | None) -> str | None:
    """The kernel's own words about killing ``pid`` for memory, None when it says nothing (or may not be asked)."""
    if pid is None:
        return None
    done = transport.run(("sh", "-c", "dmesg 2>/dev/null | tail -n 200"), timeout_seconds=15)
    for line in reversed(done.text.splitlines()):
        if "out of memory" in line.lower() and f"process {pid} " in line:
            return line.strip()[:200]
    return None
