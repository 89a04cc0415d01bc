from __future__ import annotations

import dataclasses
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.artifact.reader import ArtifactReader
from cuvil_edge.errors import (
    CrashedError,
    CuvilError,
    DiskFullError,
    LinkLostError,
    RemoteCommandError,
    RemoteTimeoutError,
    UsageError,
    WrongAnswerError,
)
from cuvil_edge.remote.install import Installation, install, installed, rollback
from cuvil_edge.remote.layout import Layout
from cuvil_edge.remote.lock import DeployLock
from cuvil_edge.remote.transports._base import Transport
from cuvil_edge.remote.transports.local import LocalTransport
from cuvil_edge.remote.transports.ssh import SshTransport
from tests.remote.artifacts import make_artifact
from tests.remote.conftest import QUICK
from tests.remote.ssh_server import BoardServer, wait_until

ROOT = ".cuvil"


@dataclasses.dataclass
class Device:
    """A device of the test: how to reach it, and its files."""

    transport: Transport
    home: Path
    tmp_path: Path

    @property
    def model(self) -> Path:
        return self.home / ROOT / "tiny"

    def artifact(self, name: str = "a", padding_bytes: int = 0, **behaviour: Any) -> Path:
        return make_artifact(self.tmp_path / f"{name}.cuvil", behaviour | {"name": name}, padding_bytes=padding_bytes)

    def deploy(self, path: Path, transport: Transport | None = None, **options: Any) -> Installation:
        with ArtifactReader(path) as artifact:
            return install(transport or self.transport, artifact, root=ROOT, **options)

    def check_whole(self) -> None:
        """Nothing half done is left: no upload, no lock, and every link leads to a release that runs."""
        assert wait_until(lambda: not list((self.model / "incoming").glob("*"))), "an upload is left"
        assert wait_until(lambda: not list(self.model.glob("lock*"))), "the lock is left"
        assert not list(self.model.glob("current.*"))
        for name in ("current", "previous"):
            if (self.model / name).is_symlink():
                done = subprocess.run([self.model / name / "model", "--sha256", "/dev/null"], check=False)
                assert done.returncode == 0

    @property
    def current(self) -> str | None:
        link = self.model / "current"
        return os.readlink(link).rpartition("/")[2] if link.is_symlink() else None

    @property
    def releases(self) -> set[str]:
        return {path.name for path in (self.model / "releases").glob("*")}


@pytest.fixture(params=["local", "sftp", "cat"])
def device(
    request: pytest.FixtureRequest,
    local: LocalTransport,
    board: BoardServer,
    connect: Callable[..., SshTransport],
    tmp_path: Path,
) -> Iterator[Device]:
    if request.param == "local":
        yield Device(local, local.home, tmp_path)
        return
    board.faults.sftp = request.param == "sftp"
    yield Device(connect(), board.home, tmp_path)


@pytest.fixture
def remote(board: BoardServer, connect: Callable[..., SshTransport], tmp_path: Path) -> Device:
    return Device(connect(), board.home, tmp_path)


def test_first_installation(device: Device) -> None:
    stages: list[tuple[str, int, int]] = []
    done = device.deploy(device.artifact(), on_stage=lambda *stage: stages.append(stage))
    assert device.current == done.sha256
    assert (device.model / "current" / "model").stat().st_mode & 0o777 == 0o755
    assert (device.model / "current" / "manifest.json").exists()
    assert (device.model / "current" / "reference/random/outputs/0.bin").stat().st_size == 16
    assert not (device.model / "current" / "lib").exists()
    assert done.previous_sha256 is None
    assert [result.passed for result in done.verifications] == [True]
    assert stages[-1][0] == "activate"
    uploads = [stage for stage in stages if stage[0] == "upload"]
    assert uploads[-1][1] == uploads[-1][2] == done.uploaded_bytes
    device.check_whole()


def test_what_is_there_is_not_uploaded_again(device: Device) -> None:
    path = device.artifact()
    first = device.deploy(path)
    second = device.deploy(path)
    assert first.uploaded_bytes > 0
    assert second.uploaded_bytes == 0
    assert second.previous_sha256 is None
    assert device.current == first.sha256
    assert installed(device.transport, root=ROOT)[0].previous is None
    device.check_whole()


def test_damaged_release_is_uploaded_again(device: Device) -> None:
    path = device.artifact()
    device.deploy(path)
    with (device.model / "current" / "weights.bin").open("r+b") as handle:
        handle.seek(5)
        handle.write(b"\xff")
    assert device.deploy(path).uploaded_bytes > 0
    device.check_whole()


def test_previous_release_is_kept_and_older_ones_go(device: Device) -> None:
    first, second, third = (device.deploy(device.artifact(name)).sha256 for name in "abc")
    assert device.current == third
    assert device.releases == {second, third}
    assert installed(device.transport, root=ROOT)[0].previous == second
    assert first not in device.releases
    device.check_whole()


def test_rollback_and_forward_again(device: Device) -> None:
    first, second = (device.deploy(device.artifact(name)).sha256 for name in "ab")
    assert rollback(device.transport, "tiny", root=ROOT) == (first, second)
    assert device.current == first
    assert rollback(device.transport, "tiny", root=ROOT) == (second, first)
    assert device.current == second
    assert device.releases == {first, second}
    device.check_whole()


def test_rollback_without_anything_to_go_back_to(device: Device) -> None:
    with pytest.raises(UsageError, match="is not installed there"):
        rollback(device.transport, "tiny", root=ROOT)
    device.deploy(device.artifact())
    with pytest.raises(UsageError, match="has no previous release"):
        rollback(device.transport, "tiny", root=ROOT)


def test_list_of_what_is_installed(device: Device) -> None:
    assert installed(device.transport, root=ROOT) == ()
    sha256 = device.deploy(device.artifact()).sha256
    (device.home / ROOT / "something else").mkdir()
    (found,) = installed(device.transport, root=ROOT)
    assert (found.model, found.current, found.previous) == ("tiny", sha256, None)


def test_wrong_answer_leaves_the_previous_release(device: Device) -> None:
    first = device.deploy(device.artifact("a")).sha256
    with pytest.raises(WrongAnswerError) as caught:
        device.deploy(device.artifact("b", answer="wrong"))
    assert "y: 3 elements differ" in str(caught.value)
    assert device.current == first
    assert device.releases == {first}
    device.check_whole()


def test_wrong_answer_of_the_current_release_does_not_remove_it(device: Device) -> None:
    path = device.artifact("a")
    first = device.deploy(path).sha256
    behaviour = device.model / "releases" / first / "model"
    text = behaviour.read_text()
    behaviour.write_text(text.replace('how.get("answer") == "wrong"', "True"))
    # The file is not the artifact's any more: it is uploaded again, and right again.
    assert device.deploy(path).uploaded_bytes > 0
    assert device.current == first


@pytest.mark.parametrize("name", ["SIGILL", "SIGKILL"])
@pytest.mark.parametrize("moment", ["start", "verify"])
def test_crash_leaves_the_previous_release(device: Device, name: str, moment: str) -> None:
    first = device.deploy(device.artifact("a")).sha256
    with pytest.raises(CrashedError, match=name):
        device.deploy(device.artifact("b", **{moment: name}))
    assert device.current == first
    assert device.releases == {first}
    device.check_whole()


def test_garbage_from_the_agent_leaves_the_previous_release(device: Device) -> None:
    first = device.deploy(device.artifact("a")).sha256
    with pytest.raises(RemoteCommandError):
        device.deploy(device.artifact("b", verify="garbage"))
    assert device.releases == {first}
    device.check_whole()


def test_file_damaged_on_the_way_is_never_installed(remote: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    first = remote.deploy(remote.artifact("a")).sha256
    put = SshTransport.put

    def damage(self: SshTransport, source: Any, path: str, **options: Any) -> None:
        data = bytearray(source)
        if path.endswith("weights.bin"):
            data[-1] ^= 1
        put(self, bytes(data), path, **options)

    monkeypatch.setattr(SshTransport, "put", damage)
    with pytest.raises(RemoteCommandError, match=r"weights\.bin: a file arrived damaged"):
        remote.deploy(remote.artifact("b"))
    assert remote.current == first
    assert remote.releases == {first}
    remote.check_whole()


def test_device_without_sha256sum_hashes_with_the_agent(
    board: BoardServer, connect: Callable[..., SshTransport], tmp_path: Path
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for folder in ("/usr/bin", "/bin"):
        for program in Path(folder).iterdir():
            link = programs / program.name
            if program.name != "sha256sum" and not link.exists():
                link.symlink_to(program)
    board.faults.environment["PATH"] = str(programs)
    device = Device(connect(), board.home, tmp_path)
    assert device.transport.run(["sh", "-c", "command -v sha256sum"]).exit_status != 0
    first = device.deploy(device.artifact("a")).sha256
    assert device.current == first
    with pytest.raises(CuvilError):
        device.deploy(device.artifact("b", answer="wrong"))
    device.check_whole()


def test_careless_bashrc_does_no_harm(board: BoardServer, connect: Callable[..., SshTransport], tmp_path: Path) -> None:
    board.faults.banner_noise = "Welcome!\nlocked\n" + "a" * 64 + "\n"
    device = Device(connect(), board.home, tmp_path)
    sha256 = device.deploy(device.artifact()).sha256
    assert [item.current for item in installed(device.transport, root=ROOT)] == [sha256]


@pytest.mark.parametrize("sftp", [True, False])
@pytest.mark.parametrize("after", [1, 3_000, 700_000])
def test_link_dropped_anywhere_leaves_the_previous_release(
    board: BoardServer, connect: Callable[..., SshTransport], tmp_path: Path, sftp: bool, after: int
) -> None:
    board.faults.sftp = sftp
    device = Device(connect(), board.home, tmp_path)
    first = device.deploy(device.artifact("a")).sha256
    big = device.artifact("b", padding_bytes=1 << 20)
    board.received_bytes = 0
    board.faults.drop_after_bytes = after
    with pytest.raises(LinkLostError):
        device.deploy(big)
    assert device.current == first
    assert device.releases == {first}
    device.check_whole()
    board.faults.drop_after_bytes = None
    again = Device(connect(), board.home, tmp_path)
    assert again.deploy(big).previous_sha256 == first
    again.check_whole()


@pytest.mark.parametrize("text", ["command -v sha256sum", "incoming/$2.broken", "./model", "point current"])
def test_hang_of_any_step_ends_and_leaves_the_previous_release(
    board: BoardServer, connect: Callable[..., SshTransport], tmp_path: Path, text: str
) -> None:
    quick = dataclasses.replace(QUICK, command_seconds=2, agent_start_seconds=2, run_seconds=2)
    device = Device(connect(timeouts=quick), board.home, tmp_path)
    first = device.deploy(device.artifact("a")).sha256
    board.faults.hang_on = text
    with pytest.raises(RemoteTimeoutError):
        device.deploy(device.artifact("b"))
    board.faults.hang_on = None
    assert device.current == first
    device.check_whole()


@pytest.mark.root
@pytest.mark.parametrize("sftp", [True, False])
def test_full_disk_leaves_the_previous_release(
    board: BoardServer, connect: Callable[..., SshTransport], tmp_path: Path, sftp: bool
) -> None:
    board.faults.sftp = sftp
    root = board.home / ROOT
    root.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(root)], check=False).returncode:
        pytest.skip("tmpfs cannot be mounted here")
    try:
        device = Device(connect(), board.home, tmp_path)
        first = device.deploy(device.artifact("a")).sha256
        with pytest.raises(DiskFullError):
            device.deploy(device.artifact("b", padding_bytes=1 << 20))
        assert device.current == first
        assert device.releases == {first}
        device.check_whole()
        assert device.deploy(device.artifact("c")).previous_sha256 == first
    finally:
        subprocess.run(["umount", "-l", str(root)], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_may_not_be_written_is_told(device: Device) -> None:
    (device.home / ROOT).mkdir(mode=0o555)
    with pytest.raises(RemoteCommandError, match="--root"):
        device.deploy(device.artifact())


def test_file_in_the_way_of_the_folder_is_told(device: Device) -> None:
    (device.home / ROOT).write_text("in the way")
    with pytest.raises(RemoteCommandError, match="cannot prepare the folder"):
        device.deploy(device.artifact())


def test_two_at_once_wait_for_each_other(
    board: BoardServer, connect: Callable[..., SshTransport], tmp_path: Path
) -> None:
    device = Device(connect(), board.home, tmp_path)
    paths = [device.artifact(name, padding_bytes=1 << 16) for name in "abcd"]
    failures: list[BaseException] = []

    def deploy(path: Path, transport: SshTransport) -> None:
        try:
            device.deploy(path, transport)
        except BaseException as error:
            failures.append(error)

    slow = dataclasses.replace(QUICK, lock_seconds=60)
    threads = [threading.Thread(target=deploy, args=(path, connect(timeouts=slow))) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    assert failures == []
    assert device.current is not None
    assert len(device.releases) == 2
    device.check_whole()


def test_held_lock_is_waited_for_and_then_named(device: Device) -> None:
    layout = Layout(ROOT, "tiny")
    waited: list[str] = []
    impatient = dataclasses.replace(QUICK, lock_seconds=0.5)
    with DeployLock(device.transport, layout):
        other = dataclasses.replace(device.transport, timeouts=impatient)
        with pytest.raises(RemoteTimeoutError, match=r"held by .* on "):
            DeployLock(other, layout, waited.append)
    assert waited
    with DeployLock(device.transport, layout):
        pass
    device.check_whole()


@pytest.mark.parametrize("beat", ["long ago", "in the future", "missing", "nonsense"])
def test_lock_of_a_deployment_that_died_is_taken_over(device: Device, beat: str) -> None:
    (device.model / "incoming" / "dead").mkdir(parents=True)
    (device.model / "incoming" / "dead" / "weights.bin").write_text("half")
    (device.model / "lock").symlink_to("dead")
    seconds = {"long ago": time.time() - 1000, "in the future": time.time() + 1e6, "nonsense": 0.0}
    if beat != "missing":
        (device.model / "lock.dead").write_text(f"{int(seconds[beat])}\n")
    device.deploy(device.artifact())
    device.check_whole()


def test_broken_link_gives_the_lock_back(
    board: BoardServer, connect: Callable[..., SshTransport], tmp_path: Path
) -> None:
    layout = Layout(ROOT, "tiny")
    held = DeployLock(connect(), layout)
    (board.home / layout.incoming(held.token) / "half").write_text("x")
    board.drop()
    device = Device(connect(), board.home, tmp_path)
    with DeployLock(device.transport, layout):
        pass
    held.release()
    device.check_whole()


def test_lock_that_was_taken_over_stops_the_slow_one(local: LocalTransport, tmp_path: Path) -> None:
    device = Device(local, local.home, tmp_path)
    first = device.deploy(device.artifact("a")).sha256

    def steal(stage: str, _done: int, _total: int) -> None:
        if stage == "activate":
            (device.model / "lock").unlink()
            (device.model / "lock").symlink_to("thief")

    with pytest.raises(RemoteCommandError, match="taken over"):
        device.deploy(device.artifact("b"), on_stage=steal)
    assert device.current == first
    assert os.readlink(device.model / "lock") == "thief"


def test_artifact_without_a_program_is_refused(local: LocalTransport, tmp_path: Path) -> None:
    path = make_artifact(tmp_path / "m.cuvil")
    with ArtifactReader(path) as artifact:
        object.__setattr__(artifact.manifest, "target", dataclasses.replace(artifact.manifest.target, name="other"))
        with pytest.raises(UsageError, match="no program"):
            install(local, artifact, root=ROOT)
