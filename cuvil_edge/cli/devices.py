"""``cuvil-edge devices``: the machines that the user can reach."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace

from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._output import Output
from cuvil_edge.cli._table import table
from cuvil_edge.errors import UsageError


class Devices(Subcommand):
    """List, add and remove devices. The file holds addresses only: keys stay with ssh."""

    name = "devices"
    help = "list, add and remove the devices that can be reached over SSH"
    epilog = """\
examples:
  cuvil-edge devices add kitchen --host pi@192.168.1.20 --board raspberry-pi-5
  cuvil-edge devices
  cuvil-edge devices remove kitchen
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """An action, a name, and what belongs to a new device."""
        parser.add_argument("action", nargs="?", choices=("list", "add", "remove"), default="list")
        parser.add_argument("device", nargs="?", metavar="NAME", help="of the device to add or remove")
        parser.add_argument(
            "--host", metavar="USER@ADDRESS:PORT", help="of the new device; or an alias of ~/.ssh/config"
        )
        parser.add_argument("--board", metavar="NAME", help="what the new device is ('cuvil-edge boards')")
        parser.add_argument("--root", metavar="DIR", help="folder for models on the new device; default: .cuvil")

    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Do the action."""
        if args.action == "list":
            return self._list(args, output)
        if args.device is None:
            raise UsageError("no device is named", expected=f"cuvil-edge devices {args.action} NAME")
        return self._add(args, output) if args.action == "add" else self._remove(args, output)

    def _list(self, args: argparse.Namespace, output: Output) -> int:
        from cuvil_edge.board.device import devices_path, load_devices

        if args.device is not None or args.host is not None:
            raise UsageError("'list' takes no device", hint="cuvil-edge devices add NAME --host USER@ADDRESS")
        devices = load_devices(args.config)
        path = devices_path(args.config)
        output.json({"devices_file": str(path), "devices": [asdict(device) for device in devices.values()]})
        if not devices:
            output.text(f"There are no devices in {path}.")
            output.text("Add one: cuvil-edge devices add NAME --host USER@ADDRESS --board BOARD")
            return 0
        rows = [("DEVICE", "ADDRESS", "BOARD", "FOLDER")]
        rows += [(d.name, d.address, d.board or "-", d.root or ".cuvil") for d in devices.values()]
        output.text(table(rows, indent=""))
        return 0

    def _add(self, args: argparse.Namespace, output: Output) -> int:
        from cuvil_edge.board.board import load_board
        from cuvil_edge.board.device import devices_path, load_devices, parse_host, save_device

        if args.host is None:
            raise UsageError(
                "the address of the new device is missing",
                thing=args.device,
                expected=f"cuvil-edge devices add {args.device} --host USER@ADDRESS",
            )
        if args.board is not None:
            load_board(args.board)
        device = replace(parse_host(args.host), name=args.device, board=args.board, root=args.root)
        replaced = args.device in load_devices(args.config)
        save_device(args.config, device)
        path = devices_path(args.config)
        output.json({"devices_file": str(path), "device": asdict(device), "replaced": replaced})
        output.text(f"{'Replaced' if replaced else 'Added'} {device.name} ({device.address}) in {path}.")
        output.text(f"Try it: cuvil-edge doctor {device.name}")
        return 0

    def _remove(self, args: argparse.Namespace, output: Output) -> int:
        from cuvil_edge.board.device import devices_path, remove_device

        remove_device(args.config, args.device)
        path = devices_path(args.config)
        output.json({"devices_file": str(path), "removed": args.device})
        output.text(f"Removed {args.device} from {path}; what is installed on it stays there.")
        return 0
