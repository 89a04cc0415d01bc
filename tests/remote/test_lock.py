from __future__ import annotations

import dataclasses
import os
import threading
import time

import pytest

from cuvil_edge.errors import RemoteTimeoutError
from cuvil_edge.remote import lock as lock_module
from cuvil_edge.remote.layout import Layout
from cuvil_edge.remote.lock import DeployLock
from cuvil_edge.remote.transports.local import LocalTransport
from tests.remote.conftest import QUICK

ROOT = ".cuvil"


def test_living_lock_is_not_taken_over(local: LocalTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_module, "STALE_SECONDS", 2)
    monkeypatch.setattr(lock_module, "BEAT_SECONDS", 0.3)
    layout = Layout(ROOT, "tiny")
    impatient = dataclasses.replace(local, timeouts=dataclasses.replace(QUICK, lock_seconds=4))
    with DeployLock(local, layout), pytest.raises(RemoteTimeoutError):
        DeployLock(impatient, layout)


def test_only_one_of_many_holds_it(local: LocalTransport) -> None:
    layout = Layout(ROOT, "tiny")
    patient = dataclasses.replace(local, timeouts=dataclasses.replace(QUICK, lock_seconds=60))
    inside: list[int] = []
    most: list[int] = []

    def hold() -> None:
        with DeployLock(patient, layout):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.05)
            inside.pop()

    threads = [threading.Thread(target=hold) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most == [1] * 6
    assert not list((local.home / layout.directory).glob("lock*"))


def test_holder_that_is_killed_leaves_a_lock_that_grows_stale(
    local: LocalTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_module, "STALE_SECONDS", 1)
    layout = Layout(ROOT, "tiny")
    held = DeployLock(local, layout)
    held._stop.set()
    os.killpg(held._process._process.pid, 9)  # type: ignore[attr-defined]
    assert (local.home / layout.directory / "lock").is_symlink()
    with DeployLock(local, layout) as taken:
        assert os.readlink(local.home / layout.directory / "lock") == taken.token
    held.release()
    assert not list((local.home / layout.directory).glob("lock*"))
