from __future__ import annotations

import base64
import hashlib
import hmac
import stat
from pathlib import Path

import pytest

from cuvil_edge.errors import HostKeyError
from cuvil_edge.remote.transports._known_hosts import fingerprint, host_name, key_types, known_keys, record


def places(text: str, name: str, tmp_path: Path) -> list[str]:
    file = tmp_path / "known_hosts"
    file.write_text(text)
    return [key.place.rpartition(":")[2] for key in known_keys([file, tmp_path / "missing"], name)]


def test_port_is_part_of_the_name(tmp_path: Path) -> None:
    text = "[pi.local]:2222 ssh-ed25519 AAAA\npi.local ssh-ed25519 BBBB\n"
    assert places(text, host_name("pi.local", 2222), tmp_path) == ["1"]
    assert places(text, host_name("pi.local", 22), tmp_path) == ["2"]


def test_patterns_and_negation(tmp_path: Path) -> None:
    text = "*.lab,!bad.lab ssh-ed25519 AAAA\nPI?.Home ssh-rsa BBBB c\n"
    assert places(text, "good.lab", tmp_path) == ["1"]
    assert places(text, "bad.lab", tmp_path) == []
    assert places(text, "pi4.home", tmp_path) == ["2"]
    assert places("[pi]:22 ssh-rsa AAAA\n", "p", tmp_path) == []


def test_hashed_names(tmp_path: Path) -> None:
    salt = b"0123456789abcdefghij"
    digest = hmac.new(salt, b"[pi]:2222", hashlib.sha1).digest()
    hashed = f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"
    text = f"{hashed} ssh-ed25519 AAAA\n|1|not base64|x ssh-ed25519 AAAA\n"
    assert places(text, "[pi]:2222", tmp_path) == ["1"]
    assert places(text, "pi", tmp_path) == []


def test_damaged_lines_trust_nobody(tmp_path: Path) -> None:
    assert places("pi\npi ssh-rsa\n# pi ssh-rsa AAAA\n\n@revoked pi\n\xff\xfe\n", "pi", tmp_path) == []


def test_markers_are_no_trusted_types(tmp_path: Path) -> None:
    (tmp_path / "known_hosts").write_text("@cert-authority pi ssh-rsa AAAA\npi ssh-ed25519 BBBB\n")
    keys = known_keys([tmp_path / "known_hosts"], "pi")
    assert [key.marker for key in keys] == ["@cert-authority", ""]
    assert key_types(keys) == ["ssh-ed25519"]


def test_record_makes_a_private_file_and_never_joins_lines(tmp_path: Path) -> None:
    file = tmp_path / "new" / "known_hosts"
    record(file, "a", "ssh-rsa", "AAAA")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text(file.read_text().rstrip("\n"))
    record(file, "b", "ssh-rsa", "BBBB")
    assert file.read_text() == "a ssh-rsa AAAA\nb ssh-rsa BBBB\n"


def test_unwritable_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HostKeyError, match="cannot record"):
        record(tmp_path / "file" / "known_hosts", "a", "ssh-rsa", "AAAA")


def test_fingerprint_is_spelled_as_ssh_keygen_does() -> None:
    key = base64.b64decode("AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl")
    assert fingerprint(key) == "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"
