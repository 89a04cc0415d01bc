"""Run folders: where a measurement is kept."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cuvil_edge.errors import UsageError

if TYPE_CHECKING:
    from cuvil_edge.artifact.manifest import Manifest
    from cuvil_edge.profile.records import Profile

DEFAULT_PARENT = Path("cuvil-runs")
_MOST_TRIES = 1000


def check_run_folder(folder: Path | None) -> None:
    """Say before the measurement that its folder cannot be written.

    Raises:
        UsageError: it is a file, or holds something that is no run.
    """
    if folder is None or not folder.exists():
        return
    if not folder.is_dir():
        raise UsageError("this is not a folder", thing=str(folder), expected="a new folder for the measurement")
    if any(folder.iterdir()) and not (folder / "profile.json").exists():
        raise UsageError(
            "the folder holds something else", thing=str(folder), expected="a new or empty folder, or an earlier run's"
        )


def save_run(profile: Profile, manifest: Manifest, folder: Path | None) -> Path:
    """Write ``profile.json`` and ``manifest.json`` into ``folder`` (default: a new one below ``cuvil-runs``).

    Raises:
        UsageError: it cannot be written.
    """
    target = folder or new_run_folder(profile.model, profile.board)
    try:
        target.mkdir(parents=True, exist_ok=True)
        (target / "manifest.json").write_bytes(manifest.to_bytes())
    except OSError as error:
        raise UsageError(
            "cannot write the run folder",
            thing=str(target),
            found=error.strerror or str(error),
            hint="--run-folder chooses another place",
        ) from None
    profile.save(target)
    return target


def new_run_folder(model: str, board: str) -> Path:
    """A folder below ``cuvil-runs`` that does not exist yet, named after the model, the board and the time."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    name = re.sub(r"[^A-Za-z0-9._-]", "_", f"{model}-{board}-{stamp}").lstrip(".")
    for number in range(1, _MOST_TRIES):
        folder = DEFAULT_PARENT / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise UsageError("there are too many run folders of this second", thing=str(DEFAULT_PARENT / name))
