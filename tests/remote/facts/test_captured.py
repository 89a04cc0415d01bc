"""Every fact, from what real kinds of devices print: ``captured/<device>.txt`` holds the outputs of the commands as
``### fact.command`` sections, ``captured/<device>.json`` the facts that must come out (all others must not)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cuvil_edge.remote.gather import fact_classes, read_fact

CAPTURED = Path(__file__).resolve().parents[1] / "captured"
DEVICES = sorted(path.stem for path in CAPTURED.glob("*.txt"))
Outputs = dict[tuple[str, ...], str]


def outputs_of(device: str) -> Outputs:
    """The captured outputs by command; facts that share a command share its section."""
    parts = re.split(r"^### (\w+)\.(\w+)\n", (CAPTURED / f"{device}.txt").read_text(), flags=re.MULTILINE)
    sections = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    return {fact_classes()[fact].commands[command]: text for fact, command, text in sections}


def facts_of(device: str) -> dict[str, Any]:
    outputs = outputs_of(device)
    found = {name: read_fact(kind(), outputs) for name, kind in fact_classes().items()}
    return {name: value for name, value in found.items() if value is not None}


@pytest.mark.parametrize("device", DEVICES)
def test_facts_of_a_device(device: str) -> None:
    assert facts_of(device) == json.loads((CAPTURED / f"{device}.json").read_text())


def test_every_fact_has_a_sample() -> None:
    seen = {name for device in DEVICES for name in facts_of(device)}
    assert seen == set(fact_classes())


@pytest.mark.parametrize("name", sorted(fact_classes()))
def test_nothing_printed_is_not_known(name: str) -> None:
    assert read_fact(fact_classes()[name](), {}) is None


@pytest.mark.parametrize("device", DEVICES)
def test_output_cut_anywhere_never_fails(device: str) -> None:
    whole = outputs_of(device)
    for name, kind in fact_classes().items():
        fact = kind()
        for share in (0.1, 0.37, 0.5, 0.81, 0.99):
            cut = {
                key: whole.get(argv, "")[: int(len(whole.get(argv, "")) * share)] for key, argv in kind.commands.items()
            }
            fact.parse(cut)  # must not raise
            fact.parse({key: text.replace("0", "\x00é") for key, text in cut.items()})
        assert name


@pytest.mark.parametrize("name", sorted(fact_classes()))
@pytest.mark.parametrize("text", ["not found\n", ":::\n===\n", "cpu0\ncpu1 x\n", "\xff" * 100, "9" * 400 + "\n"])
def test_nonsense_never_fails(name: str, text: str) -> None:
    fact = fact_classes()[name]()
    fact.parse(dict.fromkeys(fact.commands, text))


def test_values_can_be_stored() -> None:
    for device in DEVICES:
        json.dumps(facts_of(device), allow_nan=False)
