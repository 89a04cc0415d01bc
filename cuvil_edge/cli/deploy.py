"""``cuvil-edge deploy``: a model on a device, verified and measured there."""

from __future__ import annotations

import argparse
import platform
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuvil_edge.cli._arguments import add_inputs, add_measurement, add_model, add_target, cpus_text
from cuvil_edge.cli._base import Subcommand
from cuvil_edge.cli._device import accepted_host_key, add_device, connect_device, device_root, named_device, timeouts_of
from cuvil_edge.cli._model_file import artifact_file, is_artifact
from cuvil_edge.cli._output import Output
from cuvil_edge.errors import UsageError

if TYPE_CHECKING:
    from cuvil_edge.artifact.reader import ArtifactReader
    from cuvil_edge.board.device import Device
    from cuvil_edge.cli._array_files import Array
    from cuvil_edge.remote.device_session import DeployResult
    from cuvil_edge.remote.measure import MeasureOptions
    from cuvil_edge.remote.transports._base import Transport


class Deploy(Subcommand):
    """Compile if needed, look at the device, upload, install, verify, measure, report.

    Whatever fails, the release that was current on the device stays current.
    """

    name = "deploy"
    help = "install a model on a device, verify its answers there, measure it and report"
    epilog = """\
Without a device, the model runs on this machine where that has the board's architecture, else under an emulator
(qemu-user): the answers are verified, and executed instructions are counted in the place of milliseconds.

examples:
  cuvil-edge deploy model.onnx --board jetson-orin --host user@address
  cuvil-edge deploy model.cuvil --device kitchen --input image=cat.npy --output out/
  cuvil-edge deploy model.onnx --board raspberry-pi-5
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The model, the device, the inputs, the measurement."""
        add_model(parser, "a model, or a .cuvil file")
        parser.add_argument(
            "-o", "--output", metavar="DIR", type=Path, help="write the device's outputs for the inputs there"
        )
        parser.add_argument("--no-measure", action="store_true", help="install and verify only")
        parser.add_argument("--run-folder", metavar="DIR", type=Path, help="keep the measurement there")
        add_device(parser, with_name=True)
        add_target(parser)
        add_inputs(parser)
        add_measurement(parser)

    def run(self, args: argparse.Namespace, output: Output) -> int:
        """Do it all."""
        from cuvil_edge.artifact.reader import ArtifactReader
        from cuvil_edge.cli._array_files import check_output_place
        from cuvil_edge.cli._run_folder import check_run_folder

        check_run_folder(args.run_folder)
        check_output_place(args.output)
        device = named_device(args, args.device)
        board = _board(args, device)
        note = None if device is not None else _instead(args, board)
        if note is not None:
            output.text(note)
        transport: Transport | None = None
        try:
            if device is not None:
                output.progress(f"connect to {device.address}")
                transport = connect_device(args, device)
            with artifact_file(args, output, board) as path, ArtifactReader(path) as artifact:
                _check_board(args, artifact)
                transport = transport or _transport_here(args, artifact)
                return _Deployment(args, output, artifact, path, transport, device, note).run()
        finally:
            if transport is not None:
                transport.close()


def _board(args: argparse.Namespace, device: Device | None) -> str | None:
    """The board to compile for: the given one, else the device's; None leaves it to this machine.

    Raises:
        UsageError: an unknown board, or none for a model that shall run on a device.
    """
    from cuvil_edge.board.board import load_board

    board = args.board or (device.board if device is not None else None)
    if board is not None:
        load_board(board)
    elif device is not None and not is_artifact(args.model):
        raise UsageError(
            "it is not said which board the device is",
            thing=device.address,
            expected="--board NAME",
            hint="'cuvil-edge boards' lists them; generic-arm64 runs on every 64-bit ARM board",
        )
    return board


def _check_board(args: argparse.Namespace, artifact: ArtifactReader) -> None:
    compiled_for = artifact.manifest.target.board
    if args.board is not None and compiled_for != args.board and is_artifact(args.model):
        raise UsageError(
            "the artifact is compiled for another board",
            thing=str(args.model),
            expected=args.board,
            found=compiled_for or artifact.manifest.target.name,
            hint="leave --board out, or give the model itself to compile it",
        )


def _instead(args: argparse.Namespace, board: str | None) -> str:
    """What happens without a device, as a sentence."""
    from cuvil_edge.artifact.reader import ArtifactReader
    from cuvil_edge.board.board import load_board
    from cuvil_edge.board.device import load_devices

    if is_artifact(args.model):
        with ArtifactReader(args.model) as artifact:
            arch, title = artifact.manifest.target.arch, artifact.manifest.target.name
    else:
        known = load_board(board or "host")
        arch, title = known.arch, known.name
    if platform.machine() == arch:
        text = f"No device is given: running on this machine, which is {arch} as {title} is."
    else:
        text = (
            f"No device is given: running under an emulator of {title}. Answers are verified; executed instructions "
            "are counted, because an emulator's milliseconds would mean nothing."
        )
    devices = [d.name for d in load_devices(args.config).values() if d.board is not None and d.board == board]
    return text + (f" Known devices of this board: {', '.join(devices)} (--device NAME)." if devices else "")


def _transport_here(args: argparse.Namespace, artifact: ArtifactReader) -> Transport:
    from cuvil_edge.remote.device_session import transport_here

    return transport_here(artifact.manifest, args.config, timeouts=timeouts_of(args))


class _Deployment:
    """One deployment, once there are an artifact and a connection."""

    def __init__(
        self,
        args: argparse.Namespace,
        output: Output,
        artifact: ArtifactReader,
        path: Path,
        transport: Transport,
        device: Device | None,
        note: str | None,
    ) -> None:
        self.args, self.output, self.artifact, self.path = args, output, artifact, path
        self.transport, self.device, self.note = transport, device, note
        self.root = device_root(args, device) if device is not None else self._root_here()

    def _root_here(self) -> str:
        """Without a device, installations are a part of the cache, not of the user's home."""
        return str(self.args.root or self.args.config.cache_dir / "deployed")

    def run(self) -> int:
        """Deploy, run on the user's inputs, report."""
        from cuvil_edge.cli._array_files import write_outputs
        from cuvil_edge.cli._deploy_text import result_json, result_text
        from cuvil_edge.cli._reports import show_run

        arrays = self._arrays()
        result = self._deploy(arrays)
        outputs = self._outputs(arrays)
        files = write_outputs(outputs, self.args.output) if self.args.output is not None else {}
        more = result_json(result, self.artifact, accepted_host_key(self.transport), outputs, files)
        text = result_text(result, self.artifact, accepted_host_key(self.transport), outputs, files)
        if self.note is not None:
            more["note"] = self.note
        self.output.text(text)
        for stage, duration_ns in result.stage_duration_ns.items():
            self.output.detail(f"  {stage}: {duration_ns / 1e9:.2f} s")
        profile = result.measurement.profile if result.measurement is not None else None
        if profile is None or result.run_folder is None:
            self.output.json({**more, "run_folder": None, "report": None})
            return 0
        self.output.text()
        show_run(profile, result.run_folder, self.output, **more)
        return 0

    def _arrays(self) -> tuple[Array, ...] | None:
        """The user's inputs; None leaves it to the reference case."""
        from cuvil_edge.cli._inputs import gather_inputs

        if not self.args.input and not self.args.shape:
            if self.args.output is not None:
                raise UsageError(
                    "there are no inputs for these outputs", thing="--output", expected="--input NAME=FILE"
                )
            return None
        return gather_inputs(self.args, self.artifact, make_up=bool(self.args.shape)).arrays

    def _deploy(self, arrays: tuple[Array, ...] | None) -> DeployResult:
        from cuvil_edge.board.board import load_board
        from cuvil_edge.cli._run_folder import new_run_folder
        from cuvil_edge.remote.device_session import deploy

        target = self.artifact.manifest.target
        board = self.args.board or (self.device.board if self.device is not None else None) or target.board or "host"
        folder = self.args.run_folder or new_run_folder(self.artifact.manifest.model.name, board)
        result = deploy(
            self.path,
            self.transport,
            config=self.args.config,
            root=self.root,
            options=None if self.args.no_measure else self._options(arrays),
            board=board,
            limits=load_board(board).limits(self.args.threads),
            command=shlex.join(self.args.command_line),
            run_folder=folder,
            on_stage=self._on_stage,
        )
        return replace(result, device=self.device.name) if self.device is not None else result

    def _options(self, arrays: tuple[Array, ...] | None) -> MeasureOptions:
        from cuvil_edge.remote.measure import InputData, MeasureOptions

        args = self.args
        inputs = None if arrays is None else tuple(InputData(_bytes(array), array.shape) for array in arrays)
        return MeasureOptions(
            runs=args.runs,
            warmup_runs=args.warmup,
            max_duration_ns=args.max_seconds * 1_000_000_000,
            threads=args.threads,
            cpus=cpus_text(args.cpus) if args.cpus else None,
            inputs=inputs,
        )

    def _outputs(self, arrays: tuple[Array, ...] | None) -> dict[str, Array]:
        from cuvil_edge.cli._run_on_device import run_on_device

        if arrays is None:
            return {}
        self.output.progress("run on the inputs")
        args = self.args
        cpus = cpus_text(args.cpus) if args.cpus else None
        return run_on_device(self.transport, self.artifact, arrays, root=self.root, threads=args.threads, cpus=cpus)

    def _on_stage(self, stage: str, done: int, total: int) -> None:
        if total:
            self.output.progress(f"{stage} {100 * done // total} %")
        else:
            self.output.progress(stage)


def _bytes(array: Any) -> bytes:
    return bytes(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
