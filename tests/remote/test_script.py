from __future__ import annotations

from collections.abc import Callable

import pytest

from cuvil_edge.errors import RemoteCommandError
from cuvil_edge.remote.script import run_script
from cuvil_edge.remote.transports.local import LocalTransport
from cuvil_edge.remote.transports.ssh import SshTransport
from tests.remote.ssh_server import BoardServer


def test_arguments_are_values_and_never_code(local: LocalTransport) -> None:
    nasty = ["$(touch pwned)", "a b", "'", "*"]
    assert run_script(local, 'for a; do echo "<$a>"; done', *nasty, what="w") == [f"<{text}>" for text in nasty]
    assert not (local.home / "pwned").exists()


def test_what_the_login_shell_prints_is_left_out(board: BoardServer, connect: Callable[..., SshTransport]) -> None:
    board.faults.banner_noise = "Welcome!\nbegin-0\n"
    assert run_script(connect(), "echo one; echo two", what="w") == ["one", "two"]


def test_failure_has_the_clause_and_the_last_words(local: LocalTransport) -> None:
    with pytest.raises(RemoteCommandError, match="cannot do it") as caught:
        run_script(local, "echo first >&2; echo last >&2; exit 4", what="cannot do it")
    assert caught.value.found == "last"
