"""Settings of a user, passed down as one value. Only the command line and the public API read the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Config:
    """Folders and limits that belong to the user and not to a model or board."""

    cache_dir: Path
    """Compiled objects; safe to delete at any time."""
    config_dir: Path
    """Holds ``devices.toml``."""
    cache_limit_bytes: int = 2 << 30
    """Upper bound of the object cache; the oldest entries go first."""
    jobs: int = 0
    """Parallel compiler processes; 0 means one for each CPU this process may use."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Config:
        """The XDG base-directory folders, or ``CUVIL_CACHE_DIR`` / ``CUVIL_CONFIG_DIR`` / ``CUVIL_JOBS``."""
        env = os.environ if environment is None else environment
        home = Path(env.get("HOME") or "~").expanduser()
        cache = Path(env.get("XDG_CACHE_HOME") or home / ".cache") / "cuvil-edge"
        config = Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "cuvil-edge"
        return cls(
            cache_dir=Path(env.get("CUVIL_CACHE_DIR") or cache),
            config_dir=Path(env.get("CUVIL_CONFIG_DIR") or config),
            jobs=int(jobs) if (jobs := env.get("CUVIL_JOBS", "")).isdigit() else 0,
        )

    @property
    def job_count(self) -> int:
        """The number of compiler processes to run side by side."""
        return self.jobs or len(os.sched_getaffinity(0))
