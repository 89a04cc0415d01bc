from __future__ import annotations

import pytest

from cuvil_edge.errors import UsageError
from cuvil_edge.remote.layout import Layout, normalized_root


def test_folders_of_a_model() -> None:
    layout = Layout("~/.cuvil/", "tiny")
    assert layout.directory == ".cuvil/tiny"
    assert layout.release("ab") == ".cuvil/tiny/releases/ab"
    assert layout.incoming("t") == ".cuvil/tiny/incoming/t"


@pytest.mark.parametrize("model", ["", "..", "a/b", "-x", "a b", "a\n"])
def test_models_that_are_no_folder_names(model: str) -> None:
    with pytest.raises(UsageError, match="not the name of a model"):
        Layout(".cuvil", model)


@pytest.mark.parametrize("root", ["", "~", "a/../b", "..", "a\nb"])
def test_roots_that_are_none(root: str) -> None:
    with pytest.raises(UsageError):
        normalized_root(root)


def test_roots_are_never_options() -> None:
    assert normalized_root("-rf") == "./-rf"
    assert normalized_root("~/models/") == "models"
    assert normalized_root("/data/cuvil") == "/data/cuvil"
