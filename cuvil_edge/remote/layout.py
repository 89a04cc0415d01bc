"""Where things are on a device.

``<root>/<model>/releases/<sha256>/{model,weights.bin,manifest.json,reference/...}`` are whole, checked installations;
``<root>/<model>/current`` and ``previous`` are links to two of them; ``incoming/`` holds uploads that are not finished.
"""

from __future__ import annotations

from dataclasses import dataclass

from cuvil_edge.artifact.parts import is_safe_name
from cuvil_edge.errors import UsageError

DEFAULT_ROOT = ".cuvil"
"""In the user's home on the device."""


@dataclass(frozen=True)
class Layout:
    """The folders of one model on a device; paths are absolute or start at the user's home.

    Raises:
        UsageError: the root or the model's name cannot be used as a path.
    """

    root: str
    model: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", normalized_root(self.root))
        if not is_safe_name(self.model):
            hint = "letters, digits, '.', '_' and '-'"
            raise UsageError("this is not the name of a model", thing=self.model, expected=hint)

    @property
    def directory(self) -> str:
        """Everything of this model."""
        return f"{self.root}/{self.model}"

    def release(self, sha256: str) -> str:
        """One installation."""
        return f"{self.directory}/releases/{sha256}"

    def incoming(self, name: str) -> str:
        """One upload that is not finished."""
        return f"{self.directory}/incoming/{name}"


def normalized_root(root: str) -> str:
    """A root that no command takes for an option.

    Raises:
        UsageError: it is empty, climbs up, or holds control characters.
    """
    text = root.removeprefix("~/").rstrip("/")
    bad = not text or text == "~" or ".." in text.split("/") or any(ord(c) < 32 or ord(c) == 127 for c in text)
    if bad:
        raise UsageError(
            "this cannot be the folder on the device", thing=repr(root), expected="such as .cuvil or /data/cuvil"
        )
    return f"./{text}" if text.startswith("-") else text
