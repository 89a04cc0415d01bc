from __future__ import annotations

import dataclasses
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import paramiko
import pytest

from cuvil_edge.errors import (
    AuthError,
    ConnectError,
    DiskFullError,
    HostKeyError,
    LinkLostError,
    RemoteCommandError,
    RemoteTimeoutError,
)
from cuvil_edge.remote.transports._known_hosts import fingerprint
from cuvil_edge.remote.transports.ssh import SshTransport
from tests.remote.conftest import QUICK
from tests.remote.ssh_server import BoardServer, wait_until

Connect = Callable[..., SshTransport]
SOON = dataclasses.replace(QUICK, connect_seconds=2, command_seconds=2, stall_seconds=2)


def test_commands_keep_arguments_output_and_status(connect: Connect) -> None:
    nasty = ["a b", "$HOME", "`id`", "x;y", "*", "'\"", "", "-n", "é\n!"]
    done = connect().run(["printf", "%s|", *nasty])
    assert done.stdout.decode() == "".join(f"{text}|" for text in nasty)
    assert connect().run(["sh", "-c", "echo out; echo err >&2; exit 7"]).exit_status == 7


def test_stdin_larger_than_any_window_comes_back_whole(connect: Connect) -> None:
    data = os.urandom(5_000_000)
    assert connect().run(["cat"], stdin=data).stdout == data


def test_signal_of_a_program_has_a_name(connect: Connect) -> None:
    assert connect().run(["sh", "-c", "kill -SEGV $$"]).signal == "SIGSEGV"
    assert connect().run(["sh", "-c", "exit 3"]).signal is None


def test_unknown_host_key_is_refused_with_the_command_that_adds_it(board: BoardServer, connect: Connect) -> None:
    board.trust(None)
    with pytest.raises(HostKeyError) as caught:
        connect()
    text = str(caught.value)
    assert f"ssh-keyscan -p {board.port} 127.0.0.1 >> {board.known_hosts}" in text
    assert fingerprint(board.host_key.asbytes()) in text
    assert board.known_hosts.read_text() == ""


def test_unknown_host_key_can_be_accepted_once_and_is_known_then(board: BoardServer, connect: Connect) -> None:
    board.trust(None)
    assert connect(accept=True).accepted_host_key == fingerprint(board.host_key.asbytes())
    assert connect().accepted_host_key is None


def test_changed_host_key_is_refused_even_when_new_ones_are_accepted(board: BoardServer, connect: Connect) -> None:
    board.trust(paramiko.ECDSAKey.generate())
    before = board.known_hosts.read_text()
    with pytest.raises(HostKeyError, match="CHANGED") as caught:
        connect(accept=True)
    assert "ssh-keygen -f" in str(caught.value)
    assert board.known_hosts.read_text() == before


def test_host_key_of_another_type_is_a_change(board: BoardServer, connect: Connect) -> None:
    board.trust(paramiko.RSAKey.generate(2048))
    with pytest.raises(HostKeyError, match="CHANGED"):
        connect(accept=True)


def test_revoked_host_key_is_refused(board: BoardServer, connect: Connect) -> None:
    good = board.known_hosts.read_text()
    board.known_hosts.write_text(good + "@revoked " + good)
    with pytest.raises(HostKeyError, match="revoked"):
        connect(accept=True)


def test_wrong_key_is_an_auth_error_that_names_what_was_tried(board: BoardServer, connect: Connect) -> None:
    paramiko.ECDSAKey.generate().write_private_key_file(str(board.client_key_file))
    with pytest.raises(AuthError) as caught:
        connect()
    text = str(caught.value)
    assert f"{board.client_key_file}: refused" in text
    assert f"ssh-copy-id -p {board.port} pi@127.0.0.1" in text


def test_missing_locked_and_damaged_keys_are_told_apart(board: BoardServer, connect: Connect) -> None:
    board.client_key_file.unlink()
    with pytest.raises(AuthError, match="does not exist"):
        connect()
    board.client_key_file.write_text("this is not a key\n")
    with pytest.raises(AuthError, match="cannot be read"):
        connect()
    paramiko.ECDSAKey.generate().write_private_key_file(str(board.client_key_file), password="secret")
    with pytest.raises(AuthError, match="ssh-add"):
        connect()


def test_wrong_user_is_an_auth_error(connect: Connect) -> None:
    with pytest.raises(AuthError, match="nobody@"):
        connect("nobody@board")


def test_refused_connection_names_the_port(board: BoardServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(ConnectError, match=f"port {port}: the connection was refused"):
        SshTransport.connect(f"pi@127.0.0.1:{port}", config_file=board.config_file, timeouts=SOON)


def test_unknown_name_is_a_connect_error(board: BoardServer) -> None:
    with pytest.raises(ConnectError, match="no device has this name"):
        SshTransport.connect("no-such-board.invalid", config_file=board.config_file, timeouts=SOON)


def test_port_without_an_ssh_server_is_a_connect_error(board: BoardServer, connect: Connect) -> None:
    board.faults.silent = True
    with pytest.raises(ConnectError, match="no SSH greeting"):
        connect(timeouts=SOON)


def test_hanging_command_ends_at_its_limit(connect: Connect) -> None:
    with pytest.raises(RemoteTimeoutError, match="did not end for 1 s"):
        connect().run(["sleep", "60"], timeout_seconds=1)


def test_server_that_never_runs_the_command_ends_at_the_limit(board: BoardServer, connect: Connect) -> None:
    transport = connect(timeouts=SOON)
    board.faults.hang_on = "mute"
    with pytest.raises(RemoteTimeoutError):
        transport.run(["echo", "mute"])


def test_refused_command_is_told(board: BoardServer, connect: Connect) -> None:
    transport = connect(timeouts=SOON)
    board.faults.refuse_exec = True
    with pytest.raises(RemoteCommandError, match="refuses to run commands"):
        transport.run(["true"])


def test_link_lost_while_waiting(board: BoardServer, connect: Connect) -> None:
    transport = connect()
    process = transport.start(["sleep", "60"])
    board.drop()
    with pytest.raises(LinkLostError):
        process.read_line(timeout_seconds=15)
    with pytest.raises(LinkLostError):
        transport.run(["true"])


@pytest.mark.parametrize("sftp", [True, False])
def test_upload_arrives_whole_and_tells_its_progress(board: BoardServer, connect: Connect, sftp: bool) -> None:
    board.faults.sftp = sftp
    data = os.urandom(1_234_567)
    seen: list[tuple[int, int]] = []
    transport = connect()
    transport.put(data, "a file", progress=lambda done, total: seen.append((done, total)))
    assert (board.home / "a file").read_bytes() == data
    assert seen[-1] == (len(data), len(data))
    assert seen == sorted(seen)
    assert transport.get("a file") == data
    transport.put(b"", "empty")
    assert (board.home / "empty").read_bytes() == b""


def test_upload_of_a_local_file_and_of_a_view(board: BoardServer, connect: Connect, tmp_path: Path) -> None:
    data = os.urandom(300_000)
    (tmp_path / "source").write_bytes(data)
    transport = connect()
    transport.put(tmp_path / "source", "from file")
    transport.put(memoryview(data)[1000:], "from view")
    assert (board.home / "from file").read_bytes() == data
    assert (board.home / "from view").read_bytes() == data[1000:]


@pytest.mark.parametrize("sftp", [True, False])
@pytest.mark.parametrize("after", [1, 70_000, 900_000])
def test_link_dropped_in_an_upload_is_named(board: BoardServer, connect: Connect, sftp: bool, after: int) -> None:
    board.faults.sftp = sftp
    transport = connect()
    board.faults.drop_after_bytes = after
    with pytest.raises(LinkLostError):
        transport.put(os.urandom(1_000_000), "file")


@pytest.mark.parametrize("sftp", [True, False])
def test_upload_into_a_missing_folder_is_told(board: BoardServer, connect: Connect, sftp: bool) -> None:
    board.faults.sftp = sftp
    with pytest.raises(RemoteCommandError, match="cannot write a file"):
        connect().put(b"x" * 100, "missing/file")


@pytest.mark.root
@pytest.mark.parametrize("sftp", [True, False])
def test_full_disk_is_named(board: BoardServer, connect: Connect, sftp: bool) -> None:
    board.faults.sftp = sftp
    small = board.home / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(small)], check=False)
    if mounted.returncode != 0:
        pytest.skip("tmpfs cannot be mounted here")
    try:
        with pytest.raises(DiskFullError, match="no space left on the device"):
            connect().put(os.urandom(1_000_000), "small/file")
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_full_disk_by_its_message(board: BoardServer, connect: Connect) -> None:
    board.faults.sftp = False
    programs = board.home / "programs"
    programs.mkdir()
    (programs / "cat").write_text("#!/bin/sh\necho 'cat: write error: No space left on device' >&2\nexit 1\n")
    (programs / "cat").chmod(0o755)
    board.faults.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    with pytest.raises(DiskFullError):
        connect().put(b"x" * 100_000, "file")


def test_stalled_upload_ends(board: BoardServer, connect: Connect) -> None:
    board.faults.sftp = False
    board.faults.hang_on = "cat >"
    transport = connect(timeouts=SOON)
    with pytest.raises(RemoteTimeoutError, match="did not move"):
        transport.put(bytes(20_000_000), "file")


def test_lines_in_both_directions(connect: Connect) -> None:
    with connect().start(
        ["sh", "-c", 'pwd; while read -r l; do echo "<$l>"; done; echo end'], directory="/"
    ) as process:
        assert process.read_line(timeout_seconds=10) == "/"
        process.send_line("one", timeout_seconds=5)
        assert process.read_line(timeout_seconds=10) == "<one>"
        with pytest.raises(RemoteTimeoutError):
            process.read_line(timeout_seconds=0.3)


def test_closed_process_sees_the_end_of_its_input(board: BoardServer, connect: Connect) -> None:
    process = connect().start(["sh", "-c", "cat; touch ended"])
    process.close()
    assert wait_until(lambda: (board.home / "ended").exists())


def test_proxy_command_and_jump_host(board: BoardServer, connect: Connect, tmp_path: Path) -> None:
    script = tmp_path / "relay.py"
    script.write_text(
        "import socket,sys,os,threading\n"
        "s=socket.create_connection((sys.argv[1],int(sys.argv[2])))\n"
        "def up():\n"
        "    while d:=os.read(0,65536): s.sendall(d)\n"
        "threading.Thread(target=up,daemon=True).start()\n"
        "while d:=s.recv(65536): os.write(1,d)\n"
    )
    python = shutil.which("python3") or "python3"
    text = board.config_file.read_text()
    board.config_file.write_text(text + f"  ProxyCommand {python} {script} %h %p\n")
    assert connect().run(["echo", "through"]).stdout == b"through\n"
    board.trust(None)
    with pytest.raises(HostKeyError, match="ssh board"):
        connect()


def test_jump_host_that_cannot_be_reached_is_told(board: BoardServer, connect: Connect) -> None:
    text = board.config_file.read_text()
    board.config_file.write_text(text + "  ProxyJump pi@127.0.0.1:1\n")
    with pytest.raises(ConnectError, match="refused"):
        connect()


def test_host_that_jumps_over_itself_is_told(board: BoardServer, connect: Connect) -> None:
    text = board.config_file.read_text()
    board.config_file.write_text(text + "  ProxyJump board\n")
    with pytest.raises(ConnectError, match="too many jump hosts"):
        connect()


def test_close_is_quick_and_may_be_repeated(connect: Connect) -> None:
    transport = connect()
    start = time.monotonic()
    transport.close()
    transport.close()
    assert time.monotonic() - start < 10
    with pytest.raises(LinkLostError):
        transport.run(["true"])
