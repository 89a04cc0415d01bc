"""``deploy`` against an SSH server in this process, with an agent that misbehaves as told: every fault has a name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cuvil_edge.artifact.manifest import TargetInfo
from cuvil_edge.profile.records import Profile
from tests.cli.conftest import Cli, Outcome
from tests.remote.artifacts import make_artifact, make_manifest
from tests.remote.ssh_server import BoardServer

Deploy = Callable[..., Outcome]


@pytest.fixture
def board(tmp_path: Path) -> Iterator[BoardServer]:
    server = BoardServer(tmp_path / "board")
    yield server
    server.close()


@pytest.fixture
def deploy(cli: Cli, board: BoardServer, tmp_path: Path) -> Deploy:
    """A function that deploys an artifact, whose agent behaves as told, to the board."""

    def call(behaviour: dict[str, object] | None = None, *flags: object, **changes: object) -> Outcome:
        padding = int(str(changes.pop("padding_bytes", 0)))
        path = make_artifact(tmp_path / "tiny.cuvil", behaviour, padding_bytes=padding, **changes)
        reach = ["--host", "board", "--ssh-config", str(board.config_file)]
        return cli("deploy", path, *reach, "--runs", 3, "--warmup", 0, *flags)

    return call


def current(board: BoardServer) -> str | None:
    """The current release of the model on the board."""
    link = board.home / ".cuvil" / "tiny" / "current"
    return link.readlink().name if link.is_symlink() else None


def test_whole_way(deploy, board, tmp_path):
    outcome = deploy(None, "--run-folder", tmp_path / "run", "--json")
    assert outcome.status == 0, outcome
    result = outcome.json
    assert result["sha256"] == current(board)
    assert result["uploaded_bytes"] > 0
    assert result["verifications"][0]["passed"] is True
    assert result["report"]["header"]["transport"] == "ssh"
    profile = Profile.load(tmp_path / "run")
    assert profile.run_wall_ns == (1100, 1100, 1100)
    assert profile.verification is not None


def test_words_for_people(deploy):
    outcome = deploy()
    assert outcome.status == 0
    assert "is installed on board: uploaded" in outcome.out
    assert "answers are right" in outcome.out
    assert "Latency" in outcome.out
    assert outcome.err == ""
    assert "it was there already" in deploy().out


def test_second_release_tells_of_the_first_and_can_be_rolled_back(cli, deploy, board):
    first = deploy(None, "--json").json["sha256"]
    second = deploy(None, "--json", padding_bytes=256).json
    assert second["previous_sha256"] == first
    assert current(board) == second["sha256"] != first
    reach = ["--host", "board", "--ssh-config", board.config_file]
    rolled = cli("rollback", "tiny", *reach, "--json").json
    assert (rolled["sha256"], rolled["previous_sha256"]) == (first, second["sha256"])
    assert current(board) == first
    assert "tiny" in cli("rollback", "tiny", *reach).out
    assert current(board) == second["sha256"]


def test_wrong_answer_leaves_the_release_before(deploy, board):
    assert deploy().status == 0
    before = current(board)
    outcome = deploy({"answer": "wrong"}, "--json")
    assert outcome.status == 1
    assert outcome.error["kind"] == "wrong_answer"
    assert current(board) == before


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        ({"start": "SIGILL"}, "crashed"),
        ({"start": "exit"}, "remote_command"),
        ({"start": "garbage", "verify": "SIGSEGV"}, "crashed"),
        ({"protocol": 99}, "remote_command"),
        ({"refuse": {"kind": "incompatible", "what": "no asimddp"}}, "missing_feature"),
        ({"profile": "SIGSEGV"}, "crashed"),
    ],
)
def test_misbehaving_program_has_a_name(deploy, behaviour, kind):
    outcome = deploy(behaviour, "--json")
    assert outcome.status == 1
    assert outcome.error["kind"] == kind


def test_install_only(deploy, board):
    outcome = deploy({"profile": "SIGSEGV"}, "--no-measure", "--json")
    assert outcome.status == 0
    assert outcome.json["report"] is None
    assert current(board) is not None


def test_unknown_host_key_says_how_to_add_it(deploy, board):
    board.trust(None)
    outcome = deploy()
    assert outcome.status == 1
    assert "ssh-keyscan" in outcome.err or "--accept-new-host-key" in outcome.err
    assert current(board) is None


def test_new_host_key_is_accepted_recorded_and_shown(deploy, board):
    board.trust(None)
    outcome = deploy(None, "--accept-new-host-key", "--json")
    assert outcome.json["accepted_host_key"].startswith("SHA256:")
    assert board.known_hosts.read_text().strip()
    assert deploy(None, "--json").json["accepted_host_key"] is None


def test_changed_host_key_is_refused_even_with_the_flag(deploy, board):
    import paramiko

    board.trust(paramiko.ECDSAKey.generate())
    assert deploy(None, "--accept-new-host-key", "--json").error["kind"] == "host_key"


def test_wrong_key(cli, board, tmp_path):
    config = tmp_path / "config"
    text = board.config_file.read_text().replace(str(board.client_key_file), str(tmp_path / "other"))
    config.write_text(text)
    import paramiko

    paramiko.ECDSAKey.generate().write_private_key_file(str(tmp_path / "other"))
    path = make_artifact(tmp_path / "tiny.cuvil")
    assert cli("deploy", path, "--host", "board", "--ssh-config", config, "--json").error["kind"] == "auth"


def test_identity_flag_adds_a_key(cli, board, tmp_path):
    config = tmp_path / "config"
    lines = [line for line in board.config_file.read_text().splitlines() if "Identit" not in line]
    config.write_text("\n".join(lines) + "\n")
    path = make_artifact(tmp_path / "tiny.cuvil")
    reach = ["--host", "board", "--ssh-config", config]
    assert cli("doctor", *reach, "--identity", board.client_key_file).status == 0
    assert cli("deploy", path, *reach, "--identity", tmp_path / "none").status == 2


def test_unreachable_host_is_quick_and_named(cli, tmp_path):
    path = make_artifact(tmp_path / "tiny.cuvil")
    outcome = cli("deploy", path, "--host", "pi@127.0.0.1:1", "--timeout", 5, "--json")
    assert outcome.error["kind"] in ("connect", "remote_timeout")


def test_silent_host_does_not_hang(deploy, board):
    board.faults.silent = True
    assert deploy(None, "--timeout", 2, "--json").error["kind"] in ("connect", "remote_timeout")


def test_link_dropped_in_the_middle_of_the_upload(deploy, board):
    board.faults.drop_after_bytes = 100_000
    outcome = deploy(None, "--timeout", 5, "--json", padding_bytes=1 << 20)
    assert outcome.error["kind"] == "link_lost"
    assert current(board) is None


def test_artifact_for_another_architecture_is_refused_before_the_upload(deploy, board):
    target = TargetInfo("pi", "raspberry-pi-5", "arm64_neon", "sparc", "sparc-linux", "x", ())
    outcome = deploy(None, "--json", target=target)
    assert outcome.error["kind"] == "wrong_architecture"
    assert not (board.home / ".cuvil").exists()


def test_missing_cpu_features_are_refused_before_the_upload(deploy, board):
    old = make_manifest().target
    target = TargetInfo("host", None, "scalar", old.arch, old.triple, "x", ("not_a_feature",))
    outcome = deploy(None, "--json", target=target)
    assert outcome.error["kind"] == "missing_feature"
    assert "not_a_feature" in json.dumps(outcome.error)
    assert not (board.home / ".cuvil").exists()


def test_changed_artifact_is_not_uploaded(cli, board, tmp_path):
    path = make_artifact(tmp_path / "tiny.cuvil", padding_bytes=4096)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    outcome = cli("deploy", path, "--host", "board", "--ssh-config", board.config_file, "--json")
    assert outcome.error["kind"] == "artifact"
    assert not (board.home / ".cuvil").exists()


def test_model_for_a_device_of_unknown_kind_needs_a_board(cli, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"\x08\x07")
    error = cli("deploy", tmp_path / "m.onnx", "--host", "pi@127.0.0.1", "--json").error
    assert error["expected"] == "--board NAME"


def test_artifact_of_another_board(deploy):
    assert "another board" in deploy(None, "--board", "raspberry-pi-4", "--json").error["what"]


def test_two_devices(cli, tmp_path):
    path = make_artifact(tmp_path / "tiny.cuvil")
    assert "two devices" in cli("deploy", path, "--host", "a", "--device", "b", "--json").error["what"]


def test_unknown_device(cli, tmp_path):
    path = make_artifact(tmp_path / "tiny.cuvil")
    assert cli("deploy", path, "--device", "kitchen", "--json").error["thing"] == "kitchen"


def test_outputs_without_inputs(deploy, tmp_path):
    assert "no inputs" in deploy(None, "--output", tmp_path / "out", "--json").error["what"]


def test_without_a_device_it_runs_here_and_says_so(cli, tmp_path):
    path = make_artifact(tmp_path / "tiny.cuvil")
    outcome = cli("deploy", path, "--runs", 3)
    assert outcome.status == 0, outcome
    assert outcome.out.startswith("No device is given: running on this machine")
    assert (tmp_path / "home" / ".cache" / "cuvil-edge" / "deployed" / "tiny" / "current").is_symlink()
    assert "No device" in cli("deploy", path, "--runs", 3, "--json").json["note"]


def test_doctor_of_a_device(cli, deploy, board):
    deploy()
    outcome = cli("doctor", "--host", "board", "--ssh-config", board.config_file, "--json")
    assert outcome.status == 0
    assert outcome.json["installed"][0]["model"] == "tiny"
    assert outcome.json["facts"]["kernel"]
    text = cli("doctor", "--host", "board", "--ssh-config", board.config_file).out
    assert "Installed models" in text


def test_doctor_answers_for_an_artifact(cli, board, tmp_path):
    target = TargetInfo("pi", "raspberry-pi-5", "arm64_neon", "sparc", "sparc-linux", "x", ())
    path = make_artifact(tmp_path / "pi.cuvil", target=target)
    outcome = cli("doctor", "--host", "board", "--ssh-config", board.config_file, "--for", path, "--json")
    assert outcome.status == 1
    assert outcome.json["findings"][0]["severity"] == "error"
    assert "hint" in cli("doctor", "--host", "board", "--ssh-config", board.config_file, "--for", path).out


def test_rollback_without_a_release_before(cli, deploy, board):
    deploy()
    reach = ["--host", "board", "--ssh-config", board.config_file]
    assert "nothing to roll back" in cli("rollback", "tiny", *reach, "--json").error["what"]
    assert "nothing to roll back" in cli("rollback", "other", *reach, "--json").error["what"]


def test_rollback_needs_its_names(cli):
    assert cli("rollback", "tiny").status == 2
    assert cli("rollback", "a", "b", "--host", "x").status == 2
