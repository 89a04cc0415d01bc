"""``doctor`` on this machine; on devices it is tested with deploy."""

from __future__ import annotations


def test_this_machine_with_its_tools(cli):
    result = cli("doctor", "--json").json
    assert {"architecture", "kernel", "memory"} <= set(result["facts"])
    assert {"zig", "qemu-aarch64"} <= {tool["name"] for tool in result["tools"]}


def test_no_line_is_endless(cli):
    text = cli("doctor").out
    assert "Tools" in text
    assert max(map(len, text.splitlines())) <= 160


def test_missing_artifact(cli):
    assert cli("doctor", "--for", "none.cuvil").status == 2
