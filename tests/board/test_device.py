"""Devices: addresses of every form, no secrets, and a file that is only ever whole."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.board.device import (
    Device,
    devices_path,
    find_device,
    load_devices,
    parse_host,
    remove_device,
    save_device,
)
from cuvil_edge.config import Config
from cuvil_edge.errors import ConfigError, DiskFullError, UsageError


@pytest.mark.parametrize(
    ("text", "user", "host", "port"),
    [
        ("192.168.1.20", None, "192.168.1.20", None),
        ("pi@raspberrypi.local", "pi", "raspberrypi.local", None),
        ("pi@10.0.0.1:2222", "pi", "10.0.0.1", 2222),
        ("kitchen", None, "kitchen", None),
        ("my_alias-1:22", None, "my_alias-1", 22),
        ("::1", None, "::1", None),
        ("pi@fe80::1%eth0", "pi", "fe80::1%eth0", None),
        ("[::1]", None, "::1", None),
        ("pi@[fe80::1%eth0]:2222", "pi", "fe80::1%eth0", 2222),
        ("ssh://pi@host:22/", "pi", "host", 22),
        ("DOMAIN\\user@host", "DOMAIN\\user", "host", None),
        ("user@realm@host", "user@realm", "host", None),
        ("  pi@host  ", "pi", "host", None),
    ],
)
def test_addresses(text: str, user: str | None, host: str, port: int | None) -> None:
    device = parse_host(text)
    assert (device.user, device.host, device.port) == (user, host, port)
    assert parse_host(device.address) == device


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "@host",
        "pi@",
        "-oProxyCommand=x",
        "pi@-host",
        "a b",
        "host;rm",
        "ho\nst",
        "$(x)",
        "host:",
        "host:0",
        "host:65536",
        "host:x",
        "host:-1",
        "[::1",
        "[]:22",
        "pi@@",
        "a/b",
        "host:22:x@",
        "hôst",
        "x" * 300,
        "host:٣",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_host(text)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as caught:
        parse_host("pi:hunter2@host")
    assert "hunter2" not in str(caught.value)
    assert "ssh-copy-id" in str(caught.value)


def _write(config: Config, text: str) -> Path:
    path = devices_path(config)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_no_file_means_no_devices(config: Config) -> None:
    assert load_devices(config) == {}
    with pytest.raises(UsageError, match="--host USER@ADDRESS"):
        find_device(config, "kitchen")


def test_devices_are_read(config: Config) -> None:
    _write(
        config,
        '[kitchen]\nhost = "h"\nuser = "pi"\nport = 2222\nboard = "raspberry-pi-5"\nroot = "x/y"\n[b]\nhost = "::1"\n',
    )
    assert load_devices(config) == {
        "kitchen": Device("kitchen", "h", "pi", 2222, "raspberry-pi-5", "x/y"),
        "b": Device("b", "::1"),
    }
    with pytest.raises(UsageError, match='did you mean "kitchen"'):
        find_device(config, "kitchn")


@pytest.mark.parametrize(
    "key", ["password", "Password", "passphrase", "key_password", "secret", "token", "private_key", "pwd"]
)
def test_secrets_are_refused_and_not_repeated(config: Config, key: str) -> None:
    _write(config, f'[kitchen]\nhost = "h"\n{key} = "hunter2"\n')
    with pytest.raises(ConfigError, match=f"kitchen.{key}: is a secret") as caught:
        load_devices(config)
    assert "hunter2" not in str(caught.value)
    assert "ssh-copy-id" in str(caught.value.hint)


def test_key_files_belong_into_the_ssh_config(config: Config) -> None:
    _write(config, '[kitchen]\nhost = "h"\nidentity_file = "~/.ssh/id"\n')
    with pytest.raises(ConfigError, match=r"~/.ssh/config"):
        load_devices(config)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("host = 5", "host"),
        ('host = "-oProxyCommand=x"', "host"),
        ('host = "h"\nuser = "a b"', "user"),
        ('host = "h"\nport = 0', "port"),
        ('host = "h"\nport = "22"', "port"),
        ('host = "h"\nboard = "raspberry-pi-6"', "board"),
        ('host = "h"\nroot = "~/x"', "root"),
        ('host = "h"\nroot = "/"', "root"),
        ('host = "h"\nroot = "a/../b"', "root"),
        ('host = "h"\nroot = "."', "root"),
        ('host = "h"\nroot = "a\\nb"', "root"),
        ('host = "h"\nhsot = "x"', "hsot"),
        ('user = "pi"', "host"),
    ],
)
def test_a_mistake_is_named_by_file_and_key(config: Config, line: str, key: str) -> None:
    path = _write(config, f"[kitchen]\n{line}\n")
    with pytest.raises(ConfigError) as caught:
        load_devices(config)
    assert caught.value.thing == f"{path}: kitchen.{key}"


@pytest.mark.parametrize("text", ["kitchen = 5\n", "[[kitchen]]\n", '["a b"]\nhost = "h"\n', "[kitchen\n", "\xff"])
def test_other_files_are_refused(config: Config, text: str) -> None:
    path = _write(config, "")
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"devices\.toml"):
        load_devices(config)


def test_saving_keeps_what_others_wrote(config: Config) -> None:
    path = _write(
        config, '# my boards\n[a]\nhost = "x"  # upstairs\n\n[kitchen] # old\nhost = "old"\n\n[z]\nhost = "z"\n'
    )
    device = Device("kitchen", "fe80::1", "pi", 22, "rock-5b", 'a"b\\c ü')
    save_device(config, device)
    assert load_devices(config) == {"a": Device("a", "x"), "z": Device("z", "z"), "kitchen": device}
    assert path.read_text().startswith('# my boards\n[a]\nhost = "x"  # upstairs\n')
    save_device(config, device)
    assert path.read_text().count("[kitchen]") == 1
    remove_device(config, "kitchen")
    assert list(load_devices(config)) == ["a", "z"]


def test_saving_makes_the_folder_and_a_private_file(config: Config) -> None:
    save_device(config, Device("kitchen", "h"))
    assert stat.S_IMODE(devices_path(config).stat().st_mode) == 0o600
    assert [path.name for path in devices_path(config).parent.iterdir()] == ["devices.toml"]


@pytest.mark.parametrize(
    "device", [Device("a b", "h"), Device("k", "-x"), Device("k", "h", port=0), Device("k", "h", board="x")]
)
def test_what_could_not_be_read_back_is_not_saved(config: Config, device: Device) -> None:
    with pytest.raises(ConfigError):
        save_device(config, device)
    assert not devices_path(config).exists()


def test_a_broken_file_is_not_made_worse(config: Config) -> None:
    path = _write(config, "[kitchen\n")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        save_device(config, Device("b", "h"))
    assert path.read_text() == "[kitchen\n"


@pytest.mark.parametrize(("code", "kind"), [(errno.ENOSPC, DiskFullError), (errno.EROFS, ConfigError)])
def test_a_failing_write_leaves_the_old_file(
    config: Config, monkeypatch: pytest.MonkeyPatch, code: int, kind: type
) -> None:
    path = _write(config, '[a]\nhost = "x"\n')

    def fail(*arguments: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(kind):
        save_device(config, Device("b", "h"))
    assert path.read_text() == '[a]\nhost = "x"\n'
    assert [each.name for each in path.parent.iterdir()] == ["devices.toml"]
