"""Names in a manifest: none may lead out of a folder on any system."""

from __future__ import annotations

import pytest

from cuvil_edge.artifact.parts import is_safe_name, member_name_fault, safe_name


@pytest.mark.parametrize("name", ["raspberry-pi-5", "a", "efficientnet_lite0", "v1.2+x"])
def test_safe_names(name: str) -> None:
    assert is_safe_name(name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".x", "-x", "a/b", "a\\b", "a b", "a\n", "ü", "x" * 129, "a;b", "$HOME"]
)
def test_unsafe_names(name: str) -> None:
    assert not is_safe_name(name)


@pytest.mark.parametrize("name", ["weights.bin", "lib/host.so", "reference/a b/inputs/0.bin", "ü/x"])
def test_member_names(name: str) -> None:
    assert member_name_fault(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/abs",
        "a//b",
        "a/",
        "../x",
        "a/../b",
        "./a",
        "a/.",
        "a\\b",
        "c:/x",
        "a\0b",
        "a\nb",
        "\x7f",
        "\ud800",
        "x" * 600,
    ],
)
def test_member_names_that_could_lead_elsewhere(name: str) -> None:
    assert member_name_fault(name) is not None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("resnet50-v1.7", "resnet50-v1.7"),
        ("my model (1)", "my_model_1"),
        ("modèle", "modele"),
        ("../../etc/passwd\n", "etc_passwd"),
        ("输入", "model"),
        ("", "model"),
        (".hidden", "hidden"),
        ("a" * 300, "a" * 128),
    ],
)
def test_any_text_becomes_a_safe_name(text: str, name: str) -> None:
    assert safe_name(text) == name
    assert is_safe_name(name)
