"""`normgeo pictures`: the list of all pictures and settings."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Mapping
from typing import Any

from normgeo.base.text import text
from normgeo.settings import RULES, Settings

WIDEST = 100


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers; its old name is `views`."""
    parser = commands.add_parser(
        "pictures", aliases=["views"], help=text("list the pictures, and the rules of the settings")
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the pictures and the settings."""
    from normgeo.pictures import PICTURES

    pictures = {
        picture.name: text(
            "{title}. Settings: {names}.", title=picture.title, names=", ".join(picture.uses)
        )
        for picture in PICTURES.values()
    }
    settings = {
        name: text(
            "{rule} [{default}]",
            rule=rule.sentence,
            default=str(getattr(Settings, name)).removesuffix(".0"),
        )
        for name, rule in RULES.items()
    }
    titles = text("Pictures"), text("Settings [default]")
    print(_listed(titles[0], pictures), _listed(titles[1], settings), sep="\n\n")


def _listed(title: str, entries: Mapping[str, str]) -> str:
    """Return names and sentences in two columns, under a title."""
    room = min(shutil.get_terminal_size().columns, WIDEST)
    indent = 2 + max(map(len, entries)) + 2
    lines = (
        textwrap.fill(
            str(words),
            room,
            break_on_hyphens=False,
            initial_indent=f"  {name}".ljust(indent),
            subsequent_indent=" " * indent,
        )
        for name, words in entries.items()
    )
    return "\n".join((str(title), *lines))
