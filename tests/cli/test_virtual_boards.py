"""The whole way to a board without a Python, an SFTP server or a /proc, and to a small Debian, over real SSH servers.

Risk: what works against our own server in a process fails against dropbear and OpenSSH.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuvil_edge.config import Config
from tests.cli.conftest import Outcome
from tests.models import chain_model

pytestmark = [pytest.mark.board, pytest.mark.cross]
KINDS = ("busybox", "debian")


@pytest.fixture(params=KINDS)
def on_board(
    request: pytest.FixtureRequest, cli, virtual_board: Callable[[str], dict[str, Any]]
) -> Callable[..., Outcome]:
    """A function that runs a command for the board, whose models are in a folder of this test's own."""
    reach = virtual_board(request.param)
    cache = str(Config.from_environment().cache_dir)
    flags = [
        "--host",
        reach["ssh_host"],
        "--ssh-config",
        reach["ssh_config"],
        "--root",
        f".cuvil-{request.node.name[:20]}",
    ]
    return lambda command, *arguments: cli(
        command, *arguments, *flags, "--json", environment={"CUVIL_CACHE_DIR": cache}
    )


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    (tmp_path / "chain.onnx").write_bytes(chain_model().SerializeToString())
    return tmp_path / "chain.onnx"


def test_deploy_doctor_rollback(on_board, chain, tmp_path):
    x = np.random.default_rng(0).standard_normal((2, 5, 3)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    inputs = ["--input", f"x={tmp_path / 'x.npy'}", "--output", tmp_path / "out"]
    first = on_board("deploy", chain, "--board", "raspberry-pi-4", *inputs)
    assert first.status == 0, first
    assert first.json["verifications"][0]["passed"] is True
    positive = np.maximum(x + np.arange(5, dtype=np.float32)[:, None], 0).transpose(0, 2, 1)
    np.testing.assert_allclose(np.load(tmp_path / "out" / "y.npy"), 1 / (1 + np.exp(-positive)), rtol=1e-5)
    second = on_board("deploy", chain, "--board", "raspberry-pi-4", "--dim", "N=2", "--no-measure")
    assert second.json["previous_sha256"] == first.json["sha256"]
    doctor = on_board("doctor").json
    assert doctor["facts"]["architecture"] == "aarch64"
    assert doctor["installed"][0]["current"] == second.json["sha256"]
    assert on_board("rollback", "chain").json["sha256"] == first.json["sha256"]


def test_artifact_for_this_machine_is_refused(on_board, chain):
    outcome = on_board("deploy", chain, "--board", "generic-x86-64")
    assert outcome.error["kind"] == "wrong_architecture"
