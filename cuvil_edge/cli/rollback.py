"""``cuvil-edge rollback``: make the release that was current before current again."""

from __future__ import annotations

import argparse

from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._device import accepted_host_key, add_device, connect_device, device_root, named_device
from cuvil_edge.cli._output import Output
from cuvil_edge.errors import UsageError


class Rollback(Subcommand):
    """Exchanges the current release of a model on a device and the one before it; a second time undoes it."""

    name = "rollback"
    help = "make the previous release of a model on a device current again"
    epilog = """\
examples:
  cuvil-edge rollback kitchen efficientnet_lite0
  cuvil-edge rollback efficientnet_lite0 --host pi@192.168.1.20
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Device and model."""
        parser.add_argument(
            "names", metavar="NAME", nargs="+", help="DEVICE MODEL, or MODEL alone with --host; as 'doctor' lists them"
        )
        add_device(parser, with_name=False)

    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Roll back."""
        from cuvil_edge.remote.install import rollback

        wanted = 1 if args.host is not None else 2
        if len(args.names) != wanted:
            form = "rollback MODEL --host USER@ADDRESS" if args.host is not None else "rollback DEVICE MODEL"
            raise UsageError("wrong number of names", expected=f"cuvil-edge {form}", found=" ".join(args.names))
        *names, model = args.names
        device = named_device(args, names[0] if names else None)
        assert device is not None
        output.progress("connect")
        with connect_device(args, device) as transport:
            output.progress("roll back")
            now, before = rollback(transport, model, root=device_root(args, device))
            label, key = transport.label, accepted_host_key(transport)
        output.json(
            {"device": label, "model": model, "sha256": now, "previous_sha256": before, "accepted_host_key": key}
        )
        if key:
            output.text(f"Recorded the new host key {key}.")
        output.text(f"{label}: {model} is {now[:12]} again (it was {before[:12] or 'none'}).")
        return 0
