from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.errors import (
    CrashedError,
    CuvilError,
    LinkLostError,
    MissingFeatureError,
    OutOfMemoryError,
    RemoteCommandError,
    RemoteTimeoutError,
    ShapeError,
    WrongArchitectureError,
)
from cuvil_edge.remote.agent import Agent, Tensor
from cuvil_edge.remote.install import install, release_files
from cuvil_edge.remote.transports._base import Transport
from cuvil_edge.remote.transports.local import LocalTransport
from cuvil_edge.remote.transports.ssh import SshTransport
from tests.remote.artifacts import make_artifact
from tests.remote.conftest import QUICK
from tests.remote.ssh_server import BoardServer, wait_until

SOON = dataclasses.replace(QUICK, agent_start_seconds=1, run_seconds=1)


@pytest.fixture(params=["local", "ssh"])
def transport(request: pytest.FixtureRequest, local: LocalTransport, connect: Callable[..., SshTransport]) -> Transport:
    return local if request.param == "local" else connect()


def release(transport: Transport, tmp_path: Path, **behaviour: Any) -> str:
    """The files of a release whose agent behaves as told, in a folder of the device."""
    path = make_artifact(tmp_path / "model.cuvil", behaviour)
    with ArtifactReader(path) as artifact:
        transport.run(["mkdir", "-p", "r/reference/random/inputs", "r/reference/random/outputs"])
        for file in release_files(artifact):
            transport.put(file.source, f"r/{file.name}")
    transport.run(["chmod", "755", "r/model"])
    return "r"


def test_conversation(transport: Transport, tmp_path: Path) -> None:
    with Agent.start(transport, release(transport, tmp_path), threads=3) as agent:
        assert agent.info.threads == 3
        assert agent.info.features == ("asimd",)
        reply = agent.verify([], [Tensor("reference/random/outputs/0.bin", (1, 4))], 1e-4, 1e-6)
        assert reply["passed"] is True
        with pytest.raises(ShapeError, match="wrong extent") as caught:
            agent.request("fail")
        assert "x" in str(caught.value)
        assert agent.request("describe")["ok"] is True


def test_greeting_of_a_login_shell_is_passed_over(transport: Transport, tmp_path: Path) -> None:
    with Agent.start(transport, release(transport, tmp_path, noise=True)) as agent:
        assert agent.info.model == "tiny"


@pytest.mark.parametrize("moment", ["start", "describe"])
@pytest.mark.parametrize("name", ["SIGILL", "SIGKILL", "SIGSEGV", "SIGBUS"])
def test_signal_is_named(transport: Transport, tmp_path: Path, moment: str, name: str) -> None:
    directory = release(transport, tmp_path, **{moment: name})
    with pytest.raises(CrashedError, match=name):
        Agent.start(transport, directory).describe()


def test_killed_for_memory_is_told_by_the_kernels_words(
    local: LocalTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = release(local, tmp_path, describe="SIGKILL")
    agent = Agent.start(local, directory)
    programs = tmp_path / "programs"
    programs.mkdir()
    words = f"[ 12.3] Out of memory: Killed process {agent.info.pid} (model) total-vm:123kB"
    (programs / "dmesg").write_text(f"#!/bin/sh\necho '{words}'\n")
    (programs / "dmesg").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    with pytest.raises(OutOfMemoryError, match="Killed process"):
        agent.describe()


@pytest.mark.parametrize("moment", ["start", "describe"])
def test_exit_with_words_is_told(transport: Transport, tmp_path: Path, moment: str) -> None:
    directory = release(transport, tmp_path, **{moment: "exit"})
    with pytest.raises(RemoteCommandError, match="last words"):
        Agent.start(transport, directory).describe()


def test_garbage_is_named(transport: Transport, tmp_path: Path) -> None:
    with (
        Agent.start(transport, release(transport, tmp_path, describe="garbage")) as agent,
        pytest.raises(RemoteCommandError, match="makes no sense"),
    ):
        agent.describe()


def test_endless_talk_before_the_start_is_named(local: LocalTransport) -> None:
    local.put(b"#!/bin/sh\nwhile :; do echo hello; done\n", "model")
    local.run(["chmod", "755", "model"])
    with pytest.raises(RemoteCommandError, match="does not speak"):
        Agent.start(local, ".")


@pytest.mark.parametrize("moment", ["start", "describe"])
def test_hanging_agent_is_ended(local: LocalTransport, tmp_path: Path, moment: str) -> None:
    directory = release(local, tmp_path, **{moment: "hang"})
    slow = dataclasses.replace(local, timeouts=SOON)
    with pytest.raises(RemoteTimeoutError):
        Agent.start(slow, directory).describe()


def test_hanging_agent_on_a_device_is_killed_there(connect: Callable[..., SshTransport], tmp_path: Path) -> None:
    transport = connect(timeouts=dataclasses.replace(QUICK, run_seconds=1))
    agent = Agent.start(transport, release(transport, tmp_path, describe="hang"))
    with pytest.raises(RemoteTimeoutError):
        agent.describe()
    assert wait_until(lambda: transport.run(["kill", "-0", str(agent.info.pid)]).exit_status != 0)


def test_link_lost_in_a_request(board: BoardServer, connect: Callable[..., SshTransport], tmp_path: Path) -> None:
    transport = connect()
    agent = Agent.start(transport, release(transport, tmp_path))
    board.drop()
    with pytest.raises(LinkLostError):
        agent.describe()
    agent.close()


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        ("missing_feature", MissingFeatureError),
        ("wrong_architecture", WrongArchitectureError),
        ("out_of_memory", OutOfMemoryError),
        ("of_the_future", RemoteCommandError),
    ],
)
def test_refusals_are_of_their_kind(transport: Transport, tmp_path: Path, kind: str, family: type[CuvilError]) -> None:
    refusal = {"kind": kind, "what": "it does not work", "thing": "asimddp", "hint": "another board"}
    with pytest.raises(family, match="it does not work") as caught:
        Agent.start(transport, release(transport, tmp_path, refuse=refusal))
    assert "asimddp" in str(caught.value)
    assert "another board" in str(caught.value)


def test_other_protocol_is_told(transport: Transport, tmp_path: Path) -> None:
    with pytest.raises(RemoteCommandError, match="another protocol"):
        Agent.start(transport, release(transport, tmp_path, protocol=2))


def test_program_of_another_architecture_is_named(transport: Transport) -> None:
    riscv = bytearray(b"\x7fELF\x02\x01\x01" + bytes(57))
    riscv[16:20] = b"\x02\x00\xf3\x00"
    transport.put(bytes(riscv), "model")
    transport.run(["chmod", "755", "model"])
    with pytest.raises(WrongArchitectureError):
        Agent.start(transport, ".")


def test_program_that_may_not_be_executed_is_named(transport: Transport) -> None:
    transport.put(b"#!/bin/sh\n", "model")
    with pytest.raises(RemoteCommandError, match="--root"):
        Agent.start(transport, ".")


def test_installed_agent_runs_from_its_release(local: LocalTransport, tmp_path: Path) -> None:
    with ArtifactReader(make_artifact(tmp_path / "m.cuvil")) as artifact:
        done = install(local, artifact, root=".cuvil")
        with Agent.start(local, done.directory) as agent:
            assert agent.info.target == "host"
