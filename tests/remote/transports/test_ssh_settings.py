from __future__ import annotations

from pathlib import Path

import pytest

from cuvil_edge.errors import ConfigError, UsageError
from cuvil_edge.remote.transports._ssh_settings import Address, parse_address, read_config, settings_from


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("pi", Address("pi")),
        ("user@pi.local", Address("pi.local", "user")),
        ("user@10.0.0.7:2222", Address("10.0.0.7", "user", 2222)),
        ("ssh://user@pi:22/", Address("pi", "user", 22)),
        ("[fe80::1]:2222", Address("fe80::1", None, 2222)),
        ("root@fe80::1", Address("fe80::1", "root")),
        ("a@b@pi", Address("pi", "a@b")),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    "text",
    ["", "@pi", "pi:0", "pi:65536", "pi:ssh", "-oProxyCommand=x", "-u@pi", "pi local", "a\nb", "[fe80::1", "pi:²"],
)
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(UsageError):
        parse_address(text)


def test_password_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        parse_address("pi:hunter2@host")
    assert "hunter2" not in str(caught.value)


def test_includes_are_followed_relative_to_the_file_in_order(tmp_path: Path) -> None:
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "2").write_text("Host two\n")
    (tmp_path / "conf.d" / "1").write_text("Host one\nInclude missing\n")
    (tmp_path / "config").write_text("Include conf.d/*\nHost three\n  include = nothing*\n")
    hosts = [line for line in read_config(tmp_path / "config").splitlines() if line.startswith("Host")]
    assert hosts == ["Host one", "Host two", "Host three"]


def test_include_in_a_circle_is_told(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("Include config\n")
    with pytest.raises(ConfigError, match="include itself"):
        read_config(tmp_path / "config")


def test_command_line_comes_before_the_file() -> None:
    found = {"hostname": "10.0.0.1", "port": "2222", "user": "pi", "identityfile": ["~/.ssh/k", "none"]}
    settings = settings_from(Address("board", "root", 22), found, Path("config"))
    assert (settings.hostname, settings.port, settings.user) == ("10.0.0.1", 22, "root")
    assert settings.identity_files == (Path("~/.ssh/k").expanduser(),)
    assert settings_from(Address("board"), found, Path("config")).port == 2222


def test_several_known_hosts_files_and_proxies_that_are_switched_off(tmp_path: Path) -> None:
    found = {"userknownhostsfile": "/a /b", "proxyjump": "none", "proxycommand": "NONE", "hostname": "h", "user": "u"}
    settings = settings_from(Address("h"), found, Path("config"))
    assert settings.known_hosts_files == (Path("/a"), Path("/b"))
    assert settings.proxy_jump is None
    assert settings.proxy_command is None
    spaced = tmp_path / "known hosts"
    spaced.write_text("")
    assert settings_from(Address("h"), {"userknownhostsfile": str(spaced)}, Path("c")).known_hosts_files == (spaced,)


def test_port_that_is_none_is_told() -> None:
    with pytest.raises(ConfigError, match="Port is not a port"):
        settings_from(Address("h"), {"port": "ssh"}, Path("config"))
