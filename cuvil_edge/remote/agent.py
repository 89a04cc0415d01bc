"""The program that runs a model on a device, talked to in JSON lines."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from cuvil_edge import errors
from cuvil_edge.errors import CuvilError, LinkLostError, OutOfMemoryError, RemoteCommandError, RemoteTimeoutError
from cuvil_edge.remote.outcome import crashed, failure, killed_for_memory
from cuvil_edge.remote.transports._base import RemoteProcess, Transport
from cuvil_edge.remote.transports.emulator import EmulatorTransport

PROTOCOL = 1
_MAX_NOISE_LINES = 100
_WORDS_SECONDS = 10.0
_KINDS = {
    error.__new__(error).kind: error
    for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, CuvilError)
}
_KINDS |= {"incompatible": errors.MissingFeatureError}


@dataclass(frozen=True)
class Tensor:
    """A tensor in a file on the device: raw, little-endian, row-major."""

    path: str
    shape: tuple[int, ...]

    def to_json(self) -> dict[str, object]:
        """As the protocol spells it."""
        return {"path": self.path, "shape": list(self.shape)}


@dataclass(frozen=True)
class AgentInfo:
    """What the agent says of itself when it is ready."""

    model: str
    target: str
    arch: str
    threads: int
    cpus: tuple[int, ...]
    features: tuple[str, ...]
    pid: int | None


class Agent:
    """A running agent. Close it, or use it as a context manager."""

    def __init__(self, transport: Transport, process: RemoteProcess) -> None:
        self._transport = transport
        self._process = process
        self._next_id = 1
        self.info = self._read_ready()

    @classmethod
    def start(
        cls,
        transport: Transport,
        directory: str,
        *,
        threads: int | None = None,
        cpus: str | None = None,
        counting: tuple[Path, Path] | None = None,
    ) -> Agent:
        """Start ``model`` in the release ``directory`` and wait until it is ready.

        Args:
            threads: worker threads; None leaves it to the agent (the CPUs that it may use).
            cpus: the CPUs to run on ("4-7"); None leaves it to the system.
            counting: with an emulator, the instruction-counting plugin and the file that it writes.

        Raises:
            WrongArchitectureError, MissingFeatureError, OutOfMemoryError, CrashedError: it cannot run there.
            RemoteCommandError: it does not speak the protocol, or refuses its arguments.
            RemoteTimeoutError, LinkLostError: it does not answer.
        """
        argv = ["./model", "--weights", "weights.bin"]
        argv += ["--threads", str(threads)] if threads is not None else []
        argv += ["--cpus", cpus] if cpus is not None else []
        if counting is not None and isinstance(transport, EmulatorTransport):
            process = transport.start_counting(argv, directory, *counting)
        else:
            process = transport.start(argv, directory=directory)
        try:
            return cls(transport, process)
        except BaseException:
            process.close()
            raise

    def describe(self) -> dict[str, Any]:
        """Inputs, outputs, symbols and steps of the model, as the protocol spells them."""
        return self.request("describe")

    def verify(
        self, inputs: Sequence[Tensor], expected: Sequence[Tensor], relative_tolerance: float, absolute_tolerance: float
    ) -> dict[str, Any]:
        """Run on ``inputs`` and compare with ``expected`` on the device."""
        return self.request(
            "verify",
            inputs=[tensor.to_json() for tensor in inputs],
            expected=[tensor.to_json() for tensor in expected],
            relative_tolerance=relative_tolerance,
            absolute_tolerance=absolute_tolerance,
        )

    def profile(self, inputs: Sequence[Tensor], *, warmup_runs: int, runs: int, max_duration_ns: int) -> dict[str, Any]:
        """Measure every step of ``runs`` runs, at most for ``max_duration_ns``."""
        return self.request(
            "profile",
            inputs=[tensor.to_json() for tensor in inputs],
            warmup_runs=warmup_runs,
            runs=runs,
            max_duration_ns=max_duration_ns,
            _seconds=max_duration_ns / 1e9 + self._transport.timeouts.run_seconds,
        )

    def count(self, inputs: Sequence[Tensor]) -> dict[str, Any]:
        """One run on one thread that marks the steps for an instruction counter."""
        return self.request("count", inputs=[tensor.to_json() for tensor in inputs])

    def run(self, inputs: Sequence[Tensor], outputs: Sequence[str]) -> dict[str, Any]:
        """One run; the outputs go to files on the device."""
        return self.request("run", inputs=[tensor.to_json() for tensor in inputs], outputs=list(outputs))

    def request(self, command: str, *, _seconds: float | None = None, **fields: object) -> dict[str, Any]:
        """Send one request and wait for its reply.

        Raises:
            CuvilError: of the kind that the agent names, when it refuses.
            CrashedError, OutOfMemoryError: it ended instead of answering.
            RemoteCommandError: the reply makes no sense.
            RemoteTimeoutError: no reply in time; the agent is then ended.
            LinkLostError: the connection broke.
        """
        limit = self._transport.timeouts.run_seconds if _seconds is None else _seconds
        number, self._next_id = self._next_id, self._next_id + 1
        try:
            self._process.send_line(
                json.dumps({"id": number, "cmd": command, **fields}), timeout_seconds=_WORDS_SECONDS
            )
            line = self._process.read_line(timeout_seconds=limit)
        except RemoteTimeoutError:
            self._kill()
            raise
        except LinkLostError as error:
            raise self._death() or error from None
        if line is None:
            raise self._death() or self._nonsense("ended instead of answering", command)
        reply = self._parse(line)
        if reply is None or reply.get("id") != number or not isinstance(reply.get("ok"), bool):
            raise self._nonsense("gave an answer that makes no sense", line)
        if not reply["ok"]:
            raise self._refusal(reply.get("error"))
        return reply

    def close(self) -> None:
        """Ask the agent to end, and close the conversation. Never raises."""
        with contextlib.suppress(CuvilError):
            self._process.send_line(json.dumps({"id": self._next_id, "cmd": "quit"}), timeout_seconds=2)
            self._process.read_line(timeout_seconds=2)
        self._process.close()

    def __enter__(self) -> Agent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read_ready(self) -> AgentInfo:
        noise = ""
        self._pid: int | None = None
        for _ in range(_MAX_NOISE_LINES):
            line = self._process.read_line(timeout_seconds=self._transport.timeouts.agent_start_seconds)
            if line is None:
                break
            event = self._parse(line)
            if event is not None and event.get("event") == "error":
                raise self._refusal(event.get("error"))
            if event is not None and event.get("event") == "ready":
                return self._info(event)
            noise = noise or line
        else:
            raise self._nonsense("does not speak the agent's protocol", noise)
        raise self._death() or self._nonsense("ended without a word", noise)

    def _info(self, event: Mapping[str, Any]) -> AgentInfo:
        if event.get("protocol") != PROTOCOL:
            raise RemoteCommandError(
                "the agent speaks another protocol",
                thing=self._transport.label,
                expected=str(PROTOCOL),
                found=str(event.get("protocol")),
                hint="compile the model again with this version of cuvil-edge, and deploy it",
            )
        try:
            self._pid = int(event["pid"]) if "pid" in event else None
            return AgentInfo(
                model=str(event["model"]),
                target=str(event["target"]),
                arch=str(event["arch"]),
                threads=int(event["threads"]),
                cpus=tuple(int(cpu) for cpu in event.get("cpus", ())),
                features=tuple(str(name) for name in event.get("features", ())),
                pid=self._pid,
            )
        except (KeyError, TypeError, ValueError):
            raise self._nonsense("does not speak the agent's protocol", json.dumps(event)) from None

    @staticmethod
    def _parse(line: str) -> dict[str, Any] | None:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None

    def _refusal(self, error: object) -> CuvilError:
        parts: Mapping[str, Any] = error if isinstance(error, Mapping) else {}
        family = _KINDS.get(str(parts.get("kind")), RemoteCommandError)
        expected, found, hint = (str(parts[key]) if parts.get(key) else None for key in ("expected", "found", "hint"))
        thing = self._transport.label + (f": {parts['thing']}" if parts.get("thing") else "")
        return family(
            str(parts.get("what") or "the agent refused a request"),
            thing=thing,
            expected=expected,
            found=found,
            hint=hint,
        )

    def _nonsense(self, what: str, found: str) -> RemoteCommandError:
        return RemoteCommandError(
            f"the program on the device {what}",
            thing=self._transport.label,
            found=found[:160] or None,
            hint="deploy the model again; if it happens again, please report it",
        )

    def _death(self) -> CuvilError | None:
        """How the agent ended; None when that says nothing."""
        try:
            done = self._process.wait(timeout_seconds=_WORDS_SECONDS)
        except RemoteTimeoutError:
            self._kill()
            return None
        except LinkLostError as error:
            return error
        if done.signal == "SIGKILL" and (words := self._memory_words()) is not None:
            return OutOfMemoryError(
                "the program on the device was killed for memory",
                thing=self._transport.label,
                found=words,
                hint="close other programs there, use smaller inputs or fewer threads",
            )
        if done.signal is not None:
            return crashed(done.signal, self._transport.label, done.error_text)
        if done.exit_status == 0:
            return None
        return failure(done, "the program on the device failed", self._transport.label)

    def _memory_words(self) -> str | None:
        with contextlib.suppress(CuvilError):
            return killed_for_memory(self._transport, self._pid)
        return None

    def _kill(self) -> None:
        """End an agent that does not answer, so that it does not go on computing for nobody."""
        if self._pid is not None:
            with contextlib.suppress(CuvilError):
                self._transport.run(("kill", "-9", str(self._pid)), timeout_seconds=10)
        self._process.close()
