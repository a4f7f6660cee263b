"""`normgeo story`: the story as one file that opens without a server."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.base.writing import require_writable, write_bytes
from normgeo.cli.drawing import setting_help
from normgeo.cli.progress import Bar
from normgeo.settings import LANGUAGES, Settings, parse_pairs


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser("story", help=text("write the story as one HTML file"))
    parser.set_defaults(run=run)
    parser.add_argument("settings", nargs="*", metavar="SETTING", help=setting_help())
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help=".html")
    parser.add_argument("--language", choices=LANGUAGES, default="en", help=text("en by default"))
    parser.add_argument(
        "--app",
        default="",
        metavar="URL",
        help=text("address of an application that the links of the story lead to"),
    )


def run(options: argparse.Namespace) -> None:
    """Write the file.

    Raises:
        ValueError: a name that does not end in .html, an address of another kind, bad settings.
        OSError: a place that can't be written to.

    """
    path: Path = options.output
    if path.suffix.lower() != ".html":
        raise Refusal("The story is an .html file; got {path!r}.", path=str(path))
    if options.app and not options.app.startswith(("http://", "https://")):
        raise Refusal("An address begins with http:// or https://; got {app!r}.", app=options.app)
    settings = Settings.from_recipe(parse_pairs(options.settings))
    require_writable(path)

    from normgeo.story.page import figures, page
    from normgeo.story.story import story

    with Bar() as report:
        drawn = figures(settings, report)
    told = page(story(options.language), settings, drawn, app=options.app)
    write_bytes(told.encode(), path)
