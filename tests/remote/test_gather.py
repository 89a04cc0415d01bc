from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import pytest

from cuvil_edge.errors import RemoteTimeoutError
from cuvil_edge.remote.gather import gather_facts, split_outputs
from cuvil_edge.remote.transports.local import LocalTransport
from cuvil_edge.remote.transports.ssh import SshTransport
from tests.remote.conftest import QUICK
from tests.remote.ssh_server import BoardServer


def test_one_round_trip_tells_all(board: BoardServer, connect: Callable[..., SshTransport]) -> None:
    board.faults.banner_noise = "fact-0 0\nWelcome!\n"
    facts = gather_facts(connect())
    assert len(board.commands) == 1
    assert facts["architecture"]
    assert facts["free_disk"]["available_bytes"] > 0
    assert facts["emulated"] is False


def test_disk_is_that_of_a_folder_that_does_not_exist_yet(local: LocalTransport) -> None:
    for root in (".cuvil", "a/b/c", "/no/such/folder", "-x"):
        assert gather_facts(local, root=root)["free_disk"]["total_bytes"] > 0


def test_a_command_that_hangs_costs_seconds_and_not_the_facts(
    board: BoardServer, connect: Callable[..., SshTransport], tmp_path: object
) -> None:
    programs = board.home / "programs"
    programs.mkdir()
    (programs / "vcgencmd").write_text("#!/bin/sh\nexec sleep 600\n")
    (programs / "vcgencmd").chmod(0o755)
    (programs / "timeout").write_text('#!/bin/sh\nshift\nexec /usr/bin/timeout 0.2 "$@"\n')
    (programs / "timeout").chmod(0o755)
    board.faults.environment["PATH"] = f"{programs}:/usr/bin:/bin"
    start = time.monotonic()
    assert gather_facts(connect())["architecture"]
    assert time.monotonic() - start < 20


def test_device_that_does_not_answer_is_told(board: BoardServer, connect: Callable[..., SshTransport]) -> None:
    transport = connect(timeouts=dataclasses.replace(QUICK, command_seconds=0.5))
    board.faults.hang_on = "CUVIL_ROOT"
    with pytest.raises(RemoteTimeoutError):
        gather_facts(transport)


def test_outputs_are_told_apart() -> None:
    commands = [("a",), ("b",), ("c",)]
    text = "noise\n\nm 0\none\n\nm 1\n\nm 2\ntwo\nm 9\n\nm x\n"
    assert split_outputs(text, "m", commands) == {("a",): "one\n", ("b",): "", ("c",): "two"}
