from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from cuvil_edge.errors import DiskFullError, LinkLostError, RemoteCommandError, RemoteTimeoutError
from cuvil_edge.remote.transports._base import shell, shell_line, signal_from_status
from cuvil_edge.remote.transports.local import LocalTransport
from tests.remote.ssh_server import wait_until


def test_arguments_are_quoted_by_type() -> None:
    assert shell_line(["a b", "$x", "it's"]) == "'a b' '$x' 'it'\"'\"'s'"
    with pytest.raises(TypeError):
        shell_line("rm -rf /")
    with pytest.raises(TypeError):
        shell_line([])
    with pytest.raises(ValueError, match="NUL"):
        shell_line(["a\0b"])


def test_signals_behind_statuses() -> None:
    assert signal_from_status(137) == "SIGKILL"
    assert signal_from_status(132) == "SIGILL"
    assert signal_from_status(0) is None
    assert signal_from_status(128) is None
    assert signal_from_status(255) is None


def test_run_tells_status_signal_and_both_outputs(local: LocalTransport) -> None:
    done = local.run(shell("echo out; echo err >&2; cat; exit 5"), stdin=b"in")
    assert (done.exit_status, done.text, done.error_text) == (5, "out\nin", "err")
    assert local.run(shell("kill -ILL $$")).signal == "SIGILL"
    assert local.run(["no-such-program"]).exit_status == 127


def test_timeout_ends_children_too(local: LocalTransport) -> None:
    with pytest.raises(RemoteTimeoutError):
        local.run(shell("sleep 3 && touch late & wait"), timeout_seconds=0.5)
    time.sleep(0.1)
    listed = subprocess.run(["pgrep", "-f", "sleep 3 && touch late"], capture_output=True, check=False).stdout
    assert listed == b""


def test_paths_start_at_home_and_programs_at_their_folder(local: LocalTransport) -> None:
    local.run(["mkdir", "-p", "folder"])
    local.put(b"#!/bin/sh\npwd\n", "folder/program")
    local.run(["chmod", "755", "folder/program"])
    with local.start(["./program"], directory="folder") as process:
        assert process.read_line(timeout_seconds=10) == str(local.home / "folder")
        assert process.read_line(timeout_seconds=10) is None
        assert process.wait(timeout_seconds=10).exit_status == 0


def test_program_that_cannot_start_is_a_process_that_ended(local: LocalTransport) -> None:
    process = local.start(["./missing"])
    assert process.read_line(timeout_seconds=5) is None
    assert process.wait(timeout_seconds=5).exit_status == 127
    with pytest.raises(LinkLostError):
        process.send_line("x", timeout_seconds=1)


def test_last_line_without_an_end_and_long_lines(local: LocalTransport) -> None:
    with local.start(shell("head -c 3000000 /dev/zero | tr '\\0' x; echo; printf last")) as process:
        line = process.read_line(timeout_seconds=20)
        assert line is not None
        assert len(line) == 3_000_000
        assert process.read_line(timeout_seconds=10) == "last"


def test_program_that_stops_reading_is_noticed(local: LocalTransport) -> None:
    with local.start(shell("exec 0</dev/null; echo closed; exec sleep 30")) as process:
        assert process.read_line(timeout_seconds=10) == "closed"
        with pytest.raises(LinkLostError):
            process.send_line("x" * 10_000, timeout_seconds=5)


def test_program_that_does_not_read_times_out(local: LocalTransport) -> None:
    with local.start(["sleep", "30"]) as process, pytest.raises(RemoteTimeoutError, match="read nothing"):
        process.send_line("x" * 1_000_000, timeout_seconds=0.5)


def test_close_ends_the_program(local: LocalTransport) -> None:
    process = local.start(shell("trap '' TERM HUP; echo $$; sleep 60"))
    pid = int(process.read_line(timeout_seconds=10) or "0")
    process.close()
    assert wait_until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid))


def test_copy_into_a_missing_folder_is_told(local: LocalTransport) -> None:
    with pytest.raises(RemoteCommandError, match="cannot write a file"):
        local.put(b"x", "missing/file")
    with pytest.raises(RemoteCommandError, match="cannot read a file"):
        local.get("missing")


@pytest.mark.root
def test_full_disk_is_named(local: LocalTransport) -> None:
    small = local.home / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)], check=False).returncode:
        pytest.skip("tmpfs cannot be mounted here")
    try:
        with pytest.raises(DiskFullError):
            local.put(os.urandom(200_000), "small/file")
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
