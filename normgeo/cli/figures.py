"""`normgeo figures`: every picture, into a folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from normgeo.base.text import text
from normgeo.cli.drawing import draw, setting_help
from normgeo.settings import Settings, parse_pairs
from normgeo.tables.files import FOR_PROGRAMS

FIGURES = ("html", "png", "svg", "pdf", "gif")


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser("figures", help=text("draw every picture"))
    parser.set_defaults(run=run)
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("settings", nargs="*", metavar="SETTING", help=setting_help())
    parser.add_argument(
        "--format",
        action="append",
        choices=(*FIGURES, *FOR_PROGRAMS),
        help=text("html by default; may be given again"),
    )


def run(options: argparse.Namespace) -> None:
    """Draw all pictures; raises as `draw` does."""
    from normgeo.pictures import PICTURES

    folder = Path(options.folder)
    files = {
        picture: [folder / f"{picture.name}.{format}" for format in options.format or ["html"]]
        for picture in PICTURES.values()
    }
    settings = Settings.from_recipe(parse_pairs(options.settings))
    folder.mkdir(parents=True, exist_ok=True)
    draw(files, settings)
