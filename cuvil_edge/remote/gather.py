"""All facts about a device in one round trip."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from cuvil_edge.errors import RemoteTimeoutError
from cuvil_edge.registry import load_plugins
from cuvil_edge.remote.facts._base import Fact
from cuvil_edge.remote.layout import DEFAULT_ROOT, normalized_root
from cuvil_edge.remote.transports._base import Transport, shell, shell_line

_PACKAGE = "cuvil_edge.remote.facts"
# Each command for itself, so that one that hangs (a sensor, a full NFS mount) costs five seconds and not the facts.
_HEAD = r"""
CUVIL_ROOT=$1 mark=$2 limit=
LC_ALL=C PATH=$PATH:/usr/sbin:/sbin:/usr/local/bin:/opt/vc/bin
export CUVIL_ROOT LC_ALL PATH
timeout 5 true >/dev/null 2>&1 && limit='timeout 5'
run() { printf '\n%s %s\n' "$mark" "$1"; shift; $limit "$@" </dev/null 2>/dev/null; }
"""


def fact_classes() -> Mapping[str, type[Fact]]:
    """All facts by name."""
    return load_plugins(_PACKAGE, Fact)


def gather_facts(transport: Transport, *, root: str = DEFAULT_ROOT) -> dict[str, Any]:
    """Every fact that can be known of the device, by name; those that cannot are left out.

    Raises:
        RemoteError: the device could not be asked at all.
    """
    facts = {name: kind() for name, kind in fact_classes().items() if name not in transport.known_facts}
    commands = list(dict.fromkeys(argv for fact in facts.values() for argv in fact.commands.values()))
    mark = f"fact-{secrets.token_hex(8)}"
    lines = [f"run {index} {shell_line(argv)}" for index, argv in enumerate(commands)]
    script = "\n".join((_HEAD, *lines, "true"))
    try:
        done = transport.run(
            shell(script, normalized_root(root), mark), timeout_seconds=transport.timeouts.command_seconds * 2
        )
    except RemoteTimeoutError as error:
        raise RemoteTimeoutError(
            "the device did not tell its facts in time", thing=transport.label, hint=error.hint
        ) from None
    outputs = split_outputs(done.stdout.decode("utf-8", "replace"), mark, commands)
    found = {name: read_fact(fact, outputs) for name, fact in facts.items()} | dict(transport.known_facts)
    return {name: found[name] for name in sorted(found) if found[name] is not None}


def split_outputs(text: str, mark: str, commands: list[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """What each command printed."""
    outputs: dict[tuple[str, ...], str] = {}
    for part in text.split(f"\n{mark} ")[1:]:
        number, _, output = part.partition("\n")
        if number.isdigit() and int(number) < len(commands):
            outputs[commands[int(number)]] = output
    return outputs


def read_fact(fact: Fact, outputs: Mapping[tuple[str, ...], str]) -> Any | None:
    """The fact's value; None also for output that the fact cannot read: a strange device is no reason to fail."""
    try:
        return fact.parse({key: outputs.get(argv, "") for key, argv in fact.commands.items()})
    except Exception:
        return None
