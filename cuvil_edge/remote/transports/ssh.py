"""A device over SSH, through the user's own configuration, agent, keys and known_hosts. The only user of paramiko."""

from __future__ import annotations

import contextlib
import io
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import paramiko

from cuvil_edge.errors import (
    AuthError,
    ConfigError,
    ConnectError,
    CuvilError,
    LinkLostError,
    RemoteCommandError,
    RemoteError,
    RemoteTimeoutError,
)
from cuvil_edge.remote.transports._base import (
    CHUNK_BYTES,
    POLL_SECONDS,
    STDERR_TAIL_BYTES,
    Completed,
    Progress,
    RemoteProcess,
    Source,
    Timeouts,
    Transport,
    chunks,
    command_timeout,
    shell,
    shell_line,
    signal_from_status,
    source_bytes,
)
from cuvil_edge.remote.transports._channel import close_all, closing_after, converse, send_all
from cuvil_edge.remote.transports._host_key import HostKey, check_host_key
from cuvil_edge.remote.transports._known_hosts import fingerprint, host_name, key_types, known_keys
from cuvil_edge.remote.transports._link import ProxyProcess, open_socket
from cuvil_edge.remote.transports._ssh_settings import (
    Address,
    SshSettings,
    parse_address,
    read_config,
    settings_from,
)

# Failures come back as our errors; without this, paramiko also prints them as tracebacks.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

KEEPALIVE_SECONDS = 10
MAX_JUMPS = 8
START_ATTEMPTS = 4
START_PAUSE_SECONDS = 0.1
_END_SECONDS = 1.0
DEFAULT_IDENTITIES = ("id_ed25519", "id_ecdsa", "id_rsa")

# A shell that stays the parent turns the signal that ended the program into a status; the exit-signal of the protocol
# does not reach us through paramiko.
_RUN = '"$@"; exit $?'
_RUN_IN = 'cd "$1" || exit 125; shift; "$@"; exit $?'
_PROBLEMS = (paramiko.SSHException, OSError, EOFError)


class _RefusedError(RemoteCommandError):
    """Nothing was started."""

    @property
    def kind(self) -> str:
        return "remote_command"


@dataclass
class SshTransport(Transport):
    """A connected SSH session; made by ``connect``."""

    kind: ClassVar[str] = "ssh"

    settings: SshSettings
    session: paramiko.Transport
    accepted_host_key: str | None = None
    """Fingerprint of a host key that this connection has recorded as new, for showing to the user."""
    _under: list[Any] = field(default_factory=list)
    _sftp: paramiko.SFTPClient | None = None
    _no_sftp: bool = False
    _sftp_lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def connect(
        cls,
        address: str | Address,
        *,
        config_file: Path | None = None,
        accept_new_host_key: bool = False,
        timeouts: Timeouts | None = None,
        _depth: int = 0,
    ) -> SshTransport:
        """Connect, check the host key, authenticate.

        Args:
            address: ``user@host:port`` or a Host of the ssh_config.
            config_file: the ssh_config to read (default ``~/.ssh/config``).
            accept_new_host_key: record the key of a host that known_hosts does not know; never a changed one.

        Raises:
            UsageError, ConfigError: the address or the ssh_config is wrong.
            ConnectError, RemoteTimeoutError: the device cannot be reached.
            HostKeyError: its key is unknown, changed or revoked.
            AuthError: it accepts none of the keys.
        """
        address = parse_address(address) if isinstance(address, str) else address
        timeouts = timeouts or Timeouts()
        config_file = config_file or Path("~/.ssh/config").expanduser()
        settings = settings_from(address, _lookup(config_file, address.host), config_file)
        under: list[Any] = []
        try:
            link = _open_link(settings, config_file, accept_new_host_key, timeouts, under, _depth)
            under.append(link)
            session, accepted = _negotiate(settings, link, accept_new_host_key, timeouts)
            under.append(session)
            _authenticate(session, settings, timeouts)
        except BaseException:
            close_all(under)
            raise
        session.set_keepalive(KEEPALIVE_SECONDS)
        return cls(str(address), settings, session, accepted, under, timeouts=timeouts)

    def run(
        self, argv: Sequence[str], *, timeout_seconds: float | None = None, stdin: bytes | None = None
    ) -> Completed:
        """As ``Transport.run``."""
        limit = self.timeouts.command_seconds if timeout_seconds is None else timeout_seconds
        deadline = time.monotonic() + limit
        channel = self._execute(argv, shell(_RUN, *argv), limit)
        try:
            stdout, stderr = converse(channel, stdin or b"", deadline)
            return self._completed(argv, channel, stdout, stderr, deadline)
        except TimeoutError:
            raise command_timeout(self.label, argv, "did not end", limit) from None
        except _PROBLEMS as error:
            raise self._lost(error) from None
        finally:
            close_all([channel])

    def start(self, argv: Sequence[str], *, directory: str | None = None) -> RemoteProcess:
        """As ``Transport.start``."""
        wrapped = shell(_RUN, *argv) if directory is None else shell(_RUN_IN, directory, *argv)
        channel = self._execute(argv, wrapped, self.timeouts.command_seconds)
        return _SshProcess(argv, self, channel)

    def put(self, source: Source, path: str, *, progress: Progress | None = None) -> None:
        """As ``Transport.put``: through SFTP, or through ``cat`` where the device has no SFTP server."""
        sftp = self._sftp_client()
        if sftp is None:
            self._put_through_cat(source, path, progress)
        else:
            self._put_through_sftp(sftp, source, path, progress)

    def close(self) -> None:
        """As ``Transport.close``."""
        close_all(self._under)
        self._under.clear()

    def _execute(self, argv: Sequence[str], wrapped: Sequence[str], limit: float) -> paramiko.Channel:
        line = shell_line(wrapped)
        # Dropbear now and then closes a new session when another one ends at that moment. Nothing was started then, so
        # that asking again is safe.
        for _ in range(START_ATTEMPTS - 1):
            try:
                return self._execute_once(argv, line, limit)
            except _RefusedError:
                time.sleep(START_PAUSE_SECONDS)
        return self._execute_once(argv, line, limit)

    def _execute_once(self, argv: Sequence[str], line: str, limit: float) -> paramiko.Channel:
        channel = self._open_channel(argv, limit)
        # Neither exec_command nor invoke_subsystem of paramiko takes a timeout: closing the channel wakes them.
        with closing_after(channel, limit) as expired:
            try:
                channel.exec_command(line)
                return channel
            except _PROBLEMS as error:
                if expired.is_set():
                    raise command_timeout(self.label, argv, "was not started", limit) from None
                if self.session.is_active():
                    hint = "is the account restricted to some programs?"
                    raise _RefusedError("the device refuses to run commands", thing=self.label, hint=hint) from None
                raise self._lost(error) from None

    def _open_channel(self, argv: Sequence[str], limit: float) -> paramiko.Channel:
        try:
            return self.session.open_session(timeout=limit)
        except _PROBLEMS as error:
            if "Timeout" in str(error):
                raise command_timeout(self.label, argv, "was not started", limit) from None
            if self.session.is_active():
                hint = "is the account allowed to run commands, and are there too many sessions open on it?"
                what = "the device refuses another session"
                raise _RefusedError(what, thing=self.label, found=str(error), hint=hint) from None
            raise self._lost(error) from None

    def _completed(
        self, argv: Sequence[str], channel: paramiko.Channel, stdout: bytes, stderr: bytes, deadline: float
    ) -> Completed:
        if not channel.status_event.wait(max(0.0, deadline - time.monotonic())):
            raise TimeoutError
        status = channel.exit_status
        if status < 0:
            raise self._lost(EOFError("the session ended without a status"))
        return Completed(tuple(argv), status, stdout, stderr, signal_from_status(status))

    def _lost(self, error: BaseException) -> RemoteError:
        cause = self.session.get_exception() or error
        return LinkLostError(
            "the connection broke",
            thing=self.label,
            found=str(cause) or type(cause).__name__,
            hint="is the device still up (power, network)? What was installed before is untouched; try again",
        )

    def _sftp_client(self) -> paramiko.SFTPClient | None:
        with self._sftp_lock:
            if self._no_sftp or self._sftp is not None:
                return self._sftp
            limit = self.timeouts.command_seconds
            channel = self._open_channel(("sftp",), limit)
            channel.settimeout(limit)
            with closing_after(channel, limit) as expired:
                try:
                    channel.invoke_subsystem("sftp")
                    self._sftp = paramiko.SFTPClient(channel)
                    channel.settimeout(self.timeouts.stall_seconds)
                except (*_PROBLEMS, TimeoutError) as error:
                    close_all([channel])
                    if not self.session.is_active() and not expired.is_set():
                        raise self._lost(error) from None
                    self._no_sftp = True
            return self._sftp

    def _put_through_sftp(
        self, sftp: paramiko.SFTPClient, source: Source, path: str, progress: Progress | None
    ) -> None:
        total = source_bytes(source)
        sent = 0
        try:
            with sftp.open(path, "wb") as target:
                target.set_pipelined(True)
                for chunk in chunks(source):
                    target.write(bytes(chunk))
                    sent += len(chunk)
                    if progress is not None:
                        progress(sent, total)
            found_bytes = sftp.stat(path).st_size
        except TimeoutError:
            raise self._stalled(path, sent, total) from None
        except _PROBLEMS as error:
            if not self.session.is_active():
                raise self._lost(error) from None
            raise self.write_failure(path, total, str(error)) from None
        if found_bytes != total:
            # paramiko forgets the replies to the last writes: a full disk may only show here.
            raise self.write_failure(path, total, f"only {found_bytes or 0:,} of {total:,} bytes were taken")

    def _put_through_cat(self, source: Source, path: str, progress: Progress | None) -> None:
        total = source_bytes(source)
        argv = shell('cat > "$1" && wc -c < "$1"', path)
        channel = self._execute(argv, argv, self.timeouts.command_seconds)
        sent = 0
        try:
            channel.settimeout(self.timeouts.stall_seconds)
            with contextlib.suppress(BrokenPipeError):
                for chunk in chunks(source):
                    send_all(channel, bytes(chunk))
                    sent += len(chunk)
                    if progress is not None:
                        progress(sent, total)
                channel.shutdown_write()
            deadline = time.monotonic() + self.timeouts.stall_seconds
            stdout, stderr = converse(channel, b"", deadline)
            done = self._completed(argv, channel, stdout, stderr, deadline)
        except TimeoutError:
            raise self._stalled(path, sent, total) from None
        except _PROBLEMS as error:
            raise self._lost(error) from None
        finally:
            close_all([channel])
        if done.exit_status != 0 or sent < total:
            raise self.write_failure(path, total, done.error_text or f"only {sent:,} of {total:,} bytes were taken")
        if done.text.strip() != str(total):
            raise self.write_failure(path, total, f"{done.text.strip() or 'no'} bytes arrived")

    def _stalled(self, path: str, sent: int, total: int) -> RemoteTimeoutError:
        return RemoteTimeoutError(
            f"an upload did not move for {self.timeouts.stall_seconds:g} s",
            thing=f"{self.label}: {path}",
            found=f"{sent:,} of {total:,} bytes sent",
            hint="is the link up, and is the device's storage answering?",
        )


class _SshProcess(RemoteProcess):
    def __init__(self, argv: Sequence[str], transport: SshTransport, channel: paramiko.Channel) -> None:
        super().__init__(argv, transport.label)
        self._transport = transport
        self._channel = channel
        self._stderr = bytearray()

    def send_line(self, line: str, *, timeout_seconds: float) -> None:
        try:
            self._channel.settimeout(timeout_seconds)
            send_all(self._channel, line.encode() + b"\n")
        except TimeoutError:
            raise self._timed_out("read nothing", timeout_seconds) from None
        except _PROBLEMS as error:
            if self._transport.session.is_active():
                raise LinkLostError("the program does not read its input any more", thing=self.label) from None
            raise self._transport._lost(error) from None

    def _receive(self, timeout_seconds: float) -> bytes | None:
        self._drain_stderr()
        try:
            self._channel.settimeout(timeout_seconds)
            data: bytes = self._channel.recv(CHUNK_BYTES)
        except TimeoutError:
            return None
        except _PROBLEMS as error:
            raise self._transport._lost(error) from None
        # A broken connection reads like the end of output.
        if not data:
            self._channel.status_event.wait(POLL_SECONDS)
            if self._channel.exit_status < 0 and not self._transport.session.is_active():
                raise self._transport._lost(EOFError("the connection was closed"))
        return data

    def _drain_stderr(self) -> None:
        while self._channel.recv_stderr_ready():
            self._stderr += self._channel.recv_stderr(CHUNK_BYTES)
            del self._stderr[:-STDERR_TAIL_BYTES]

    def wait(self, *, timeout_seconds: float) -> Completed:
        deadline = time.monotonic() + timeout_seconds
        try:
            stdout, stderr = converse(self._channel, b"", deadline)
            self._stderr += stderr
            result = bytes(self._stderr[-STDERR_TAIL_BYTES:])
            return self._transport._completed(self.argv, self._channel, bytes(self._buffer) + stdout, result, deadline)
        except TimeoutError:
            raise self._timed_out("did not end", timeout_seconds) from None
        except _PROBLEMS as error:
            raise self._transport._lost(error) from None

    def close(self) -> None:
        # dropbear ends the next channel too when one is closed while its program is still ending.
        with contextlib.suppress(Exception):
            self._channel.shutdown_write()
            self._channel.status_event.wait(_END_SECONDS)
        close_all([self._channel])


# --- connecting -------------------------------------------------------------------------------------------------------


def _lookup(file: Path, host: str) -> dict[str, Any]:
    config = paramiko.SSHConfig()
    try:
        config.parse(io.StringIO(read_config(file)))
        return dict(config.lookup(host))
    except CuvilError:
        raise
    except Exception as error:  # the parser raises whatever its expressions raise
        raise ConfigError("cannot understand ssh_config", thing=str(file), found=str(error)) from None


def _open_link(
    settings: SshSettings, config_file: Path, accept_new: bool, timeouts: Timeouts, under: list[Any], depth: int
) -> Any:
    """A connected socket, or what stands for one: a channel of the jump host, or the pipe of a ProxyCommand."""
    if settings.proxy_jump is not None:
        if depth >= MAX_JUMPS:
            raise ConnectError("too many jump hosts", thing=str(settings.address), hint="does a host jump over itself?")
        return _open_jump(settings, config_file, accept_new, timeouts, under, depth)
    if settings.proxy_command is not None:
        proxy = ProxyProcess(settings.proxy_command)
        under.append(proxy)
        return proxy.link
    return open_socket(settings.hostname, settings.port, timeouts.connect_seconds)


def _open_jump(
    settings: SshSettings, config_file: Path, accept_new: bool, timeouts: Timeouts, under: list[Any], depth: int
) -> paramiko.Channel:
    hops = [part.strip() for part in (settings.proxy_jump or "").split(",") if part.strip()]
    # Every further hop of a list is reached through the ones before it.
    jump = _connect_hop(hops, config_file, accept_new, timeouts, depth)
    under.append(jump)
    where = (settings.hostname, settings.port)
    try:
        return jump.session.open_channel("direct-tcpip", where, ("127.0.0.1", 0), timeout=timeouts.connect_seconds)
    except _PROBLEMS as error:
        raise ConnectError(
            "the jump host cannot reach the device",
            thing=f"{settings.hostname} port {settings.port} through {jump.label}",
            found=str(error),
        ) from None


def _connect_hop(
    hops: Sequence[str], config_file: Path, accept_new: bool, timeouts: Timeouts, depth: int
) -> SshTransport:
    address = parse_address(hops[-1])
    if len(hops) == 1:
        return SshTransport.connect(
            address, config_file=config_file, accept_new_host_key=accept_new, timeouts=timeouts, _depth=depth + 1
        )
    settings = settings_from(address, _lookup(config_file, address.host), config_file)
    under: list[Any] = []
    try:
        before = _connect_hop(hops[:-1], config_file, accept_new, timeouts, depth + 1)
        under.append(before)
        link = before.session.open_channel(
            "direct-tcpip", (settings.hostname, settings.port), ("127.0.0.1", 0), timeout=timeouts.connect_seconds
        )
        session, accepted = _negotiate(settings, link, accept_new, timeouts)
        under.append(session)
        _authenticate(session, settings, timeouts)
    except BaseException as error:
        close_all(under)
        if isinstance(error, _PROBLEMS):
            raise ConnectError("a jump host cannot be reached", thing=str(address), found=str(error)) from None
        raise
    return SshTransport(str(address), settings, session, accepted, under, timeouts=timeouts)


def _negotiate(
    settings: SshSettings, link: Any, accept_new: bool, timeouts: Timeouts
) -> tuple[paramiko.Transport, str | None]:
    """Greeting, key exchange and the check of the host key; the fingerprint of a newly accepted key, else None."""
    name = settings.host_key_alias or host_name(settings.hostname, settings.port)
    known = known_keys((*settings.known_hosts_files, *settings.system_known_hosts_files), name)
    thing = f"{settings.hostname} port {settings.port}"
    session: paramiko.Transport | None = None
    try:
        session = paramiko.Transport(link)
        session.banner_timeout = timeouts.connect_seconds
        session.handshake_timeout = timeouts.connect_seconds
        session.auth_timeout = timeouts.connect_seconds
        options = session.get_security_options()
        wanted = [t for known_type in key_types(known) for t in _signature_types(known_type) if t in options.key_types]
        options.key_types = [*wanted, *(t for t in options.key_types if t not in wanted)]
        # Greeting and key exchange have limits of their own; this one is for servers that keep talking.
        session.start_client(timeout=timeouts.connect_seconds * 2 + 1)
        key = session.get_remote_server_key()
    except _PROBLEMS as error:
        close_all([session, link])
        raise _greeting_failure(error, thing, timeouts) from None
    try:
        return session, check_host_key(settings, name, known, HostKey(key.get_name(), key.asbytes()), accept_new)
    except BaseException:
        close_all([session])
        raise


def _signature_types(key_type: str) -> tuple[str, ...]:
    return ("rsa-sha2-512", "rsa-sha2-256") if key_type == "ssh-rsa" else (key_type,)


def _greeting_failure(error: BaseException, thing: str, timeouts: Timeouts) -> CuvilError:
    text = str(error) or type(error).__name__
    if "banner" in text:
        hint = "something else than an SSH server listens there, or it is overloaded: is the port right?"
        return ConnectError("no SSH greeting came", thing=thing, hint=hint)
    if isinstance(error, paramiko.IncompatiblePeer):
        hint = "its SSH server offers only methods that are not safe any more: update it"
        return ConnectError("no common encryption", thing=thing, found=text, hint=hint)
    if isinstance(error, TimeoutError) or "timeout" in text.lower() or "No existing session" in text:
        limit = f"{timeouts.connect_seconds:g} s"
        return RemoteTimeoutError(f"the SSH key exchange took more than {limit}", thing=thing)
    return ConnectError("the SSH server broke off the connection", thing=thing, found=text)


def _authenticate(session: paramiko.Transport, settings: SshSettings, timeouts: Timeouts) -> None:
    """Offer the keys one after the other: IdentityFile, the agent's, the default ones."""
    tried: list[str] = []
    allowed: list[str] = []
    for origin, key in _identities(settings, tried):
        try:
            rest = session.auth_publickey(settings.user, key)
            if not rest:
                return
            allowed = list(rest)
            tried.append(f"{origin}: accepted, but the device also wants {', '.join(rest)}")
        except paramiko.BadAuthenticationType as error:
            allowed = error.allowed_types
            tried.append(f"{origin}: the device takes no keys")
        except paramiko.AuthenticationException as error:
            if "timeout" in str(error).lower():
                limit = f"{timeouts.connect_seconds:g} s"
                raise RemoteTimeoutError(f"authentication took more than {limit}", thing=settings.hostname) from None
            tried.append(f"{origin}: refused")
        except _PROBLEMS as error:
            tried.append(f"{origin}: {error}")
        if not session.is_authenticated() and not session.is_active():
            break
    where = f"-p {settings.port} " if settings.port != 22 else ""
    raise AuthError(
        "the device accepts none of the keys",
        thing=f"{settings.user}@{settings.hostname} port {settings.port}",
        found=f"the device allows {', '.join(allowed)}" if allowed else ("" if tried else "there is no key here"),
        details=tuple(tried),
        hint=f"is the user right? A key is installed there with: ssh-copy-id {where}{settings.user}@{settings.hostname}"
        " (make one with ssh-keygen; unlock it with ssh-add)",
    )


def _identities(settings: SshSettings, tried: list[str]) -> Iterator[tuple[str, paramiko.PKey]]:
    files = list(settings.identity_files)
    yield from _file_identities(files, tried)
    wanted = {public for file in files if (public := _public_part(file)) is not None}
    try:
        agent_keys = paramiko.Agent().get_keys()
    except _PROBLEMS as error:
        tried.append(f"ssh agent: {error}")
        agent_keys = ()
    for key in agent_keys:
        if not settings.identities_only or key.get_base64() in wanted:
            yield f"ssh agent: {key.get_name()} {fingerprint(key.asbytes())}", key
    if not settings.identities_only and not files:
        folder = Path("~/.ssh").expanduser()
        yield from _file_identities([folder / name for name in DEFAULT_IDENTITIES if (folder / name).exists()], tried)


def _file_identities(files: Sequence[Path], tried: list[str]) -> Iterator[tuple[str, paramiko.PKey]]:
    for file in files:
        try:
            yield str(file), paramiko.PKey.from_path(file)
        except FileNotFoundError:
            tried.append(f"{file}: does not exist")
        except (paramiko.PasswordRequiredException, TypeError):
            tried.append(f"{file}: is locked with a passphrase; unlock it with ssh-add")
        except (paramiko.SSHException, paramiko.UnknownKeyType, OSError, ValueError) as error:
            tried.append(f"{file}: cannot be read ({error})")


def _public_part(file: Path) -> str | None:
    with contextlib.suppress(OSError, IndexError, UnicodeDecodeError):
        return Path(f"{file}.pub").read_text().split()[1]
    return None
