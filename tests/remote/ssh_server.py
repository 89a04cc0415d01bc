"""An SSH server in this process, on loopback, whose faults are chosen by the test."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paramiko

_ACCEPT_SECONDS = 0.2


@dataclass
class Faults:
    """What goes wrong. All of it is read while the server runs."""

    sftp: bool = True
    drop_after_bytes: int | None = None
    """Close the TCP connection when a command or SFTP has received this many bytes of data."""
    hang_on: str | None = None
    """Commands that contain this text are accepted, and nothing happens."""
    refuse_exec: bool = False
    silent: bool = False
    """Accept TCP connections and say nothing."""
    banner_noise: str = ""
    """Printed before the output of every command, as a careless .bashrc does."""
    environment: dict[str, str] = field(default_factory=dict)


class BoardServer:
    """The server; ``home`` is the board's file system as far as relative paths reach."""

    def __init__(self, folder: Path, *, host_key: paramiko.PKey | None = None, port: int = 0) -> None:
        self.home = folder / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self.faults = Faults()
        self.host_key = host_key or paramiko.ECDSAKey.generate()
        self.client_key_file = folder / "id_client"
        client_key = paramiko.ECDSAKey.generate()
        client_key.write_private_key_file(str(self.client_key_file))
        self.client_public = client_key.get_base64()
        self.commands: list[str] = []
        self.received_bytes = 0
        self._listener = socket.create_server(("127.0.0.1", port))
        self._listener.settimeout(_ACCEPT_SECONDS)
        self.port = int(self._listener.getsockname()[1])
        self._stop = threading.Event()
        self._links: list[socket.socket] = []
        self._transports: list[paramiko.Transport] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        self.known_hosts = folder / "known_hosts"
        self.config_file = folder / "ssh_config"
        self.config_file.write_text(
            f"Host board\n  HostName 127.0.0.1\n  Port {self.port}\n  User pi\n"
            f"  IdentityFile {self.client_key_file}\n  IdentitiesOnly yes\n  UserKnownHostsFile {self.known_hosts}\n"
        )
        self.trust(self.host_key)

    def trust(self, key: paramiko.PKey | None) -> None:
        """Make ``key`` the one that known_hosts holds for this server (None: none)."""
        line = "" if key is None else f"[127.0.0.1]:{self.port} {key.get_name()} {key.get_base64()}\n"
        self.known_hosts.write_text(line)

    def drop(self) -> None:
        """Cut every connection, as pulling the cable does."""
        for link in self._links:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
            link.close()

    def took(self, count: int) -> None:
        """Count received data, and cut the connection when the test says so."""
        self.received_bytes += count
        limit = self.faults.drop_after_bytes
        if limit is not None and self.received_bytes >= limit:
            self.drop()
            raise EOFError

    def close(self) -> None:
        """End everything."""
        self._stop.set()
        self._listener.close()
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait(5)
        for transport in self._transports:
            transport.close()
        self.drop()
        self._thread.join(5)

    def spawn(self, command: str) -> subprocess.Popen[bytes]:
        """Start a command as sshd does."""
        process = subprocess.Popen(
            ["sh", "-c", command],
            cwd=self.home,
            env={**os.environ, "HOME": str(self.home), **self.faults.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                link, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._links.append(link)
            if self.faults.silent:
                continue
            transport = paramiko.Transport(link)
            self._transports.append(transport)
            transport.add_server_key(self.host_key)
            if self.faults.sftp:
                transport.set_subsystem_handler("sftp", paramiko.SFTPServer, _Files)
            with contextlib.suppress(Exception):
                transport.start_server(server=_Session(self), event=threading.Event())


class _Session(paramiko.ServerInterface):
    def __init__(self, board: BoardServer) -> None:
        self.board = board

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.OPEN_SUCCEEDED

    def get_allowed_auths(self, username: str) -> str:
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        is_right = username == "pi" and key.get_base64() == self.board.client_public
        return paramiko.AUTH_SUCCESSFUL if is_right else paramiko.AUTH_FAILED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        if self.board.faults.refuse_exec:
            return False
        text = command.decode()
        self.board.commands.append(text)
        threading.Thread(target=_serve, args=(self.board, channel, text), daemon=True).start()
        return True


def _serve(board: BoardServer, channel: paramiko.Channel, command: str) -> None:
    if board.faults.hang_on is not None and board.faults.hang_on in command:
        return
    with contextlib.suppress(Exception):
        if board.faults.banner_noise:
            channel.sendall(board.faults.banner_noise.encode())
        process = board.spawn(command)
        threads = [
            threading.Thread(target=_pump, args=(process.stdout, channel.sendall), daemon=True),
            threading.Thread(target=_pump, args=(process.stderr, channel.sendall_stderr), daemon=True),
        ]
        feeder = threading.Thread(target=_feed, args=(board, channel, process), daemon=True)
        for thread in (*threads, feeder):
            thread.start()
        status = process.wait()  # without a limit: with one, Popen polls, which is slow; close() kills the process
        for thread in threads:
            thread.join(10)
        channel.send_exit_status(status if status >= 0 else 128 - status)
        channel.close()


def _pump(source: Any, send: Any) -> None:
    with contextlib.suppress(Exception):
        while data := os.read(source.fileno(), 65536):
            send(data)


def _feed(board: BoardServer, channel: paramiko.Channel, process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(Exception):
        while data := channel.recv(65536):
            board.took(len(data))
            view = memoryview(data)
            while view:
                view = view[process.stdin.write(view) :]
    with contextlib.suppress(OSError):
        process.stdin.close()


class _Files(paramiko.SFTPServerInterface):
    """Enough of a file system for uploads."""

    def __init__(self, server: _Session, *args: Any, **kwargs: Any) -> None:
        super().__init__(server, *args, **kwargs)
        self.board = server.board

    def open(self, path: str, flags: int, attr: Any) -> Any:
        try:
            handle = _File(flags)
            handle.board = self.board
            handle.file = open(self._real(path), "wb")  # noqa: SIM115
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno or 0)
        return handle

    def stat(self, path: str) -> Any:
        try:
            return paramiko.SFTPAttributes.from_stat(self._real(path).stat())
        except OSError as error:
            return paramiko.SFTPServer.convert_errno(error.errno or 0)

    def _real(self, path: str) -> Path:
        return self.board.home / path


class _File(paramiko.SFTPHandle):
    board: BoardServer
    file: Any

    def write(self, offset: int, data: bytes) -> int:
        try:
            self.board.took(len(data))
            self.file.seek(offset)
            self.file.write(data)
            self.file.flush()
        except OSError:
            return paramiko.SFTP_FAILURE  # as OpenSSH answers for a full disk
        return paramiko.SFTP_OK

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.file.close()


def wait_until(condition: Any, seconds: float = 10.0) -> bool:
    """Whether ``condition`` came true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())
