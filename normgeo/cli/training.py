"""`normgeo training`: a recorded run, compared with the predictions for its optimizer."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from normgeo.base.arguments import digits
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.cli.output import add_format, add_output, format_of, give
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.recordings.example import EXAMPLE
from normgeo.recordings.findings import FROZEN, WITHIN, findings, optimizer_of_run
from normgeo.tables.training import training_table

NUMBERS = {
    "rate": text("of checkpoints: learning rate η"),
    "decay": text("of checkpoints: weight decay λ; default: 0"),
}
PAUSE = 2.0  # seconds between looks at a file that is followed


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser(
        "training",
        help=text("print what a recorded training run did, beside what is predicted"),
        description=text(
            "Each block of weights of a run that normgeo.Recorder has written: its norm, how "
            "far it turns, whether weight decay and growth balance, and which are frozen."
        ),
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        type=Path,
        help=text("a recording, or checkpoints in the order of the run"),
    )
    parser.add_argument(
        "--example", action="store_true", help=text("a run that ships, on the digits")
    )
    parser.add_argument(
        "--optimizer",
        choices=OPTIMIZERS,
        help=text("of the run; default: the one that the recorder was told"),
    )
    for name, what in NUMBERS.items():
        parser.add_argument(f"--{name}", type=float, metavar="N", help=what)
    parser.add_argument(
        "--steps",
        metavar="N,N…",
        help=text(
            "of checkpoints, how many steps there were before each; default: the last number "
            "in each name, or 0,1,2 …"
        ),
    )
    parser.add_argument(
        "--frozen",
        type=float,
        default=FROZEN,
        metavar="DEGREES",
        help=text("below which a block is called frozen; default: {about}", about=FROZEN),
    )
    parser.add_argument(
        "--within",
        type=float,
        default=WITHIN,
        metavar="SHARE",
        help=text("how near to the balance is in balance; default: {part}", part=WITHIN),
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help=text("print or write it again whenever there are new records, until Ctrl+C"),
    )
    add_format(parser)
    add_output(parser)


def run(options: argparse.Namespace) -> None:
    """Read, and print or write.

    Raises:
        ValueError: no files, no recording, or an unknown optimizer; a report of unknown kind.
        OSError: no such file.

    """
    if bool(options.files) == options.example:
        raise Refusal(
            "Give a file that `normgeo.Recorder` has written, checkpoints in the order of the "
            "run, or --example."
        )
    format_of(options)  # refuse a report that can't be written before reading a long file
    files = [EXAMPLE.path] if options.example else options.files
    printed = _print(files, options, -1)
    while options.follow:
        time.sleep(PAUSE)
        printed = _print(files, options, printed)


def _print(files: list[Path], options: argparse.Namespace, before: int) -> int:
    """Print or write the table if there are more records than before; return how many there are."""
    from normgeo.pictures.your_network.checkpoints import read_run

    recording = read_run(
        files,
        options.optimizer,
        rate=options.rate,
        decay=options.decay or 0.0,
        steps=None if options.steps is None else _steps(options.steps),
    )
    if (records := len(recording.steps)) > before:
        found = findings(recording, frozen=options.frozen, within=options.within)
        give(options, training_table(recording, optimizer_of_run(recording), found))
    return records


def _steps(words: str) -> list[int]:
    parts = words.split(",")
    numbers = [number for part in parts if (number := digits(part.strip())) is not None]
    if len(numbers) < len(parts):
        raise Refusal(
            "`--steps` must be whole numbers, as 0,500,1000; got {words!r}.", words=words[:80]
        )
    return numbers
