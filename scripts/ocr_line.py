"""A line of text as the input of a text recognition model (PP-OCRv4), and its output as text again.

    python scripts/ocr_line.py draw "some words" line.png
    python scripts/ocr_line.py prepare line.png line.npy
    python scripts/ocr_line.py read out/result.npy model.onnx

``draw`` needs Pillow 10.1 or newer, ``prepare`` any Pillow, ``read`` onnx: the model carries its alphabet.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

HEIGHT = 48
LEAST_WIDTH = 320
MOST_WIDTH = 3200


def draw(text: str, path: Path) -> None:
    """A picture of ``text`` in black on white."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size=34)
    left, _, right, _ = font.getbbox(text)
    picture = Image.new("RGB", (int(right - left) + 24, HEIGHT), "white")
    ImageDraw.Draw(picture).text((12 - left, HEIGHT / 2), text, "black", font, anchor="lm")
    picture.save(path)


def prepare(path: Path) -> np.ndarray:
    """A picture of one line as the model wants it: f32 [1, 3, 48, width], BGR, (pixel / 255 - 0.5) / 0.5."""
    from PIL import Image

    with Image.open(path) as file:
        picture = file.convert("RGB")
    width = max(1, min(MOST_WIDTH, round(picture.width * HEIGHT / picture.height)))
    pixels = np.asarray(picture.resize((width, HEIGHT), Image.Resampling.BILINEAR), np.float32)
    line = np.zeros((1, 3, HEIGHT, max(width, LEAST_WIDTH)), np.float32)
    line[0, :, :, :width] = (pixels[:, :, ::-1].transpose(2, 0, 1) / 255 - 0.5) / 0.5
    return line


def alphabet(model: Path) -> list[str]:
    """The characters of the model's classes: nothing, the dictionary in its metadata, and a space."""
    import onnx

    metadata = {entry.key: entry.value for entry in onnx.load(model, load_external_data=False).metadata_props}
    return ["", *metadata["character"].splitlines(), " "]


def decode(scores: np.ndarray, characters: Sequence[str]) -> tuple[str, float]:
    """The text of CTC scores [1, time, classes] (best class a step, repeats merged), and how sure the model is."""
    best = scores[0].argmax(axis=1)
    new = np.concatenate([[True], best[1:] != best[:-1]]) & (best != 0)
    sure = scores[0].max(axis=1)[new]
    return "".join(characters[i] for i in best[new]), float(sure.mean()) if sure.size else 0.0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, first, second in (("draw", "text", "file"), ("prepare", "file", "array"), ("read", "array", "model")):
        command = commands.add_parser(name)
        command.add_argument(first)
        command.add_argument(second, type=Path)
    args = parser.parse_args(argv)
    if args.command == "draw":
        draw(args.text, args.file)
    elif args.command == "prepare":
        np.save(args.array, prepare(Path(args.file)))
    else:
        text, sure = decode(np.load(args.array), alphabet(args.model))
        print(f'"{text.strip()}" ({100 * sure:.1f} % sure)')
    return 0


if __name__ == "__main__":
    sys.exit(main())
