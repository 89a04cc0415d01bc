"""One deployment at a time for each model on a device.

The lock is a symbolic link: made at once or not at all, and naming its owner. Its owner is a shell on the device that
reads our heartbeats and writes them to a file; when the link breaks, the shell sees the end of its input, removes the
unfinished upload and the lock. If the shell cannot (power cut, kill -9), the heartbeat grows old, and the next
deployment takes the lock over.
"""

from __future__ import annotations

import contextlib
import getpass
import secrets
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType

from cuvil_edge.errors import CuvilError, LinkLostError, RemoteCommandError, RemoteTimeoutError
from cuvil_edge.remote.layout import Layout
from cuvil_edge.remote.outcome import failure
from cuvil_edge.remote.transports._base import RemoteProcess, Transport, shell

BEAT_SECONDS = 10.0
STALE_SECONDS = 90
_ANSWER_SECONDS = 60.0

# $1 the model's folder, $2 our token, $3 who we are, $4 seconds until a heartbeat is stale, $5 our upload in incoming/.
_HOLDER = r"""
dir=$1 token=$2 who=$3 stale=$4 upload=$1/incoming/$2
trap '' HUP PIPE
umask 022
mkdir -p "$dir/releases" "$dir/incoming" || exit 1
beat() { date +%s > "$dir/lock.$token.new" && mv -f "$dir/lock.$token.new" "$dir/lock.$token"; }
beat && printf '%s\n' "$who" > "$dir/lock.$token.who" || exit 1
mine() { [ "$(readlink "$dir/lock" 2>/dev/null)" = "$token" ]; }
leave() { mine && rm -f "$dir/lock"; rm -f "$dir/lock.$token" "$dir/lock.$token.who" "$dir/lock.$token.new"; }
while :; do
  beat
  ln -s "$token" "$dir/lock" 2>/dev/null
  mine && break
  owner=$(readlink "$dir/lock" 2>/dev/null)
  if [ -z "$owner" ]; then
    [ -e "$dir/lock" ] || { ln -s "$token" "$dir/lock" && mine && break; leave; exit 1; }
    continue
  fi
  last=$(cat "$dir/lock.$owner" 2>/dev/null) || last=0
  age=$(( $(date +%s) - last ))
  if [ "$age" -gt "$stale" ] || [ "$age" -lt "-$stale" ]; then
    mv -f "$dir/lock" "$dir/lock.$token.old" 2>/dev/null
    taken=$(readlink "$dir/lock.$token.old" 2>/dev/null)
    [ -n "$taken" ] && [ "$taken" != "$owner" ] && ln -s "$taken" "$dir/lock" 2>/dev/null
    rm -f "$dir/lock.$token.old"
    [ "$taken" = "$owner" ] && rm -f "$dir/lock.$owner" "$dir/lock.$owner.who"
    continue
  fi
  printf 'busy %s %s\n' "$token" "$(cat "$dir/lock.$owner.who" 2>/dev/null)"
  read -r line && [ "$line" = retry ] || { leave; exit 0; }
done
# Whoever holds the lock owns every unfinished upload: all of them are left over from something that broke.
rm -rf "$dir/incoming/"* 2>/dev/null
mkdir "$upload" || { leave; exit 1; }
echo "locked $token"
line=
while read -r line; do
  [ "$line" = release ] && break
  beat
done
rm -rf "$upload" 2>/dev/null
if [ "$line" != release ]; then
  # The link broke: what was receiving the upload may see it a moment later, and write a last file until then.
  for _ in 1 2; do sleep 1; rm -rf "$upload" 2>/dev/null; done
fi
leave
echo "released $token"
"""


class DeployLock:
    """The held lock; ``token`` is its owner's name and that of the folder in ``incoming/``."""

    def __init__(self, transport: Transport, layout: Layout, on_wait: Callable[[str], None] | None = None) -> None:
        """Wait for the lock and take it.

        Args:
            on_wait: called with who holds it, each second of waiting.

        Raises:
            RemoteTimeoutError: somebody else has held it for ``timeouts.lock_seconds``.
            RemoteError: the folder on the device cannot be made or written.
        """
        self._transport = transport
        self.token = secrets.token_hex(8)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        who = f"{getpass.getuser()} on {socket.gethostname()}"
        argv = shell(_HOLDER, layout.directory, self.token, who, str(STALE_SECONDS))
        self._process: RemoteProcess = transport.start(argv)
        try:
            self._wait(layout, on_wait)
        except BaseException:
            self._process.close()
            raise
        self._thread = threading.Thread(target=self._beat, name="cuvil-lock", daemon=True)
        self._thread.start()

    def release(self) -> None:
        """Give the lock back and remove what is left of the upload. Never raises."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_ANSWER_SECONDS)
        with contextlib.suppress(CuvilError):
            self._process.send_line("release", timeout_seconds=10)
            while (line := self._process.read_line(timeout_seconds=_ANSWER_SECONDS)) not in (
                f"released {self.token}",
                None,
            ):
                del line
        self._process.close()

    def __enter__(self) -> DeployLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _wait(self, layout: Layout, on_wait: Callable[[str], None] | None) -> None:
        limit = self._transport.timeouts.lock_seconds
        deadline = time.monotonic() + limit
        while True:
            line = self._process.read_line(timeout_seconds=_ANSWER_SECONDS)
            if line == f"locked {self.token}":
                return
            if line is None:
                raise self._refused(layout)
            if not line.startswith(f"busy {self.token} "):
                continue  # a greeting of the login shell
            owner = line.split(" ", 2)[2] or "somebody"
            if time.monotonic() > deadline:
                raise RemoteTimeoutError(
                    f"another deployment of this model did not end within {limit:g} s",
                    thing=f"{self._transport.label}: {layout.directory}",
                    found=f"held by {owner}",
                    hint=f"wait for it; a deployment that broke is taken over after {STALE_SECONDS} s",
                )
            if on_wait is not None:
                on_wait(owner)
            time.sleep(1.0)
            self._process.send_line("retry", timeout_seconds=10)

    def _refused(self, layout: Layout) -> CuvilError:
        done = self._process.wait(timeout_seconds=_ANSWER_SECONDS)
        thing = f"{self._transport.label}: {layout.directory}"
        if done.exit_status == 0:
            return RemoteCommandError("cannot take the deployment lock", thing=thing)
        return failure(done, "cannot prepare the folder on the device", thing)

    def _beat(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            try:
                self._process.send_line("beat", timeout_seconds=BEAT_SECONDS)
            except (LinkLostError, RemoteTimeoutError):
                return  # the next step over this link tells
