"""Fixtures of the device side: a server with chosen faults, and connections to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuvil_edge.remote.transports._base import Timeouts
from cuvil_edge.remote.transports.local import LocalTransport
from cuvil_edge.remote.transports.ssh import SshTransport
from tests.remote.ssh_server import BoardServer

# Long enough for a busy test machine, short enough that a hang is a failure and not an evening.
QUICK = Timeouts(
    connect_seconds=10,
    command_seconds=20,
    stall_seconds=10,
    agent_start_seconds=20,
    run_seconds=20,
    lock_seconds=10,
)


@pytest.fixture
def board(tmp_path: Path) -> Iterator[BoardServer]:
    server = BoardServer(tmp_path / "board")
    yield server
    server.close()


@pytest.fixture
def connect(board: BoardServer) -> Iterator[Callable[..., SshTransport]]:
    """Connects to the board; all connections are closed at the end."""
    opened: list[SshTransport] = []

    def make(address: str = "board", *, timeouts: Timeouts = QUICK, accept: bool = False) -> SshTransport:
        transport = SshTransport.connect(
            address, config_file=board.config_file, accept_new_host_key=accept, timeouts=timeouts
        )
        opened.append(transport)
        return transport

    yield make
    for transport in opened:
        transport.close()


@pytest.fixture
def local(tmp_path: Path) -> LocalTransport:
    home = tmp_path / "device"
    home.mkdir()
    return LocalTransport(home=home, timeouts=QUICK)
