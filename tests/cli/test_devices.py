"""The devices file through the command line: added, listed, replaced, removed; never a secret in it."""

from __future__ import annotations


def test_life_of_a_device(cli):
    assert cli("devices", "--json").json["devices"] == []
    added = cli("devices", "add", "kitchen", "--host", "pi@192.0.2.7:2222", "--board", "raspberry-pi-5", "--json").json
    assert added["replaced"] is False
    device = cli("devices", "list", "--json").json["devices"][0]
    expected = {
        "name": "kitchen",
        "host": "192.0.2.7",
        "user": "pi",
        "port": 2222,
        "board": "raspberry-pi-5",
        "root": None,
    }
    assert device == expected
    assert cli("devices", "add", "kitchen", "--host", "192.0.2.8", "--json").json["replaced"] is True
    assert "192.0.2.8" in cli("devices").out
    assert cli("devices", "remove", "kitchen").status == 0
    assert cli("devices", "--json").json["devices"] == []


def test_empty_list_says_how_to_add(cli):
    assert "cuvil-edge devices add" in cli("devices").out


def test_unknown_device_cannot_be_removed(cli):
    outcome = cli("devices", "remove", "kitchen", "--json")
    assert outcome.error["thing"] == "kitchen"


def test_address_is_needed(cli):
    assert "--host" in cli("devices", "add", "kitchen", "--json").error["expected"]


def test_unknown_board_is_refused_before_anything_is_written(cli):
    assert cli("devices", "add", "kitchen", "--host", "192.0.2.7", "--board", "pi-99").status == 2
    assert cli("devices", "--json").json["devices"] == []


def test_password_is_refused_and_not_repeated(cli):
    outcome = cli("devices", "add", "kitchen", "--host", "pi:hunter2@192.0.2.7")
    assert outcome.status == 2
    assert "hunter2" not in outcome.out + outcome.err


def test_bad_name_is_refused(cli):
    assert cli("devices", "add", "a b", "--host", "192.0.2.7").status != 0


def test_list_takes_no_name(cli):
    assert cli("devices", "list", "kitchen").status == 2
