"""`normgeo render`: one picture, by its name or from a recipe."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.cli.drawing import draw, setting_help
from normgeo.cli.output import require_apart
from normgeo.settings import Settings, parse_pairs

if TYPE_CHECKING:
    from normgeo.pictures.picture import Picture


LONGEST = 10**6  # characters of a recipe


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser("render", help=text("draw a picture, or what a recipe says"))
    parser.set_defaults(run=run)
    parser.add_argument(
        "target",
        metavar=text("PICTURE|RECIPE"),
        help=text("the name of a picture, a JSON file, or - for standard input"),
    )
    parser.add_argument("settings", nargs="*", metavar="SETTING", help=setting_help())
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        action="append",
        metavar="FILE",
        type=Path,
        help=text(".html .png .svg .pdf .gif, or its numbers: .csv .json; may be given again"),
    )


def run(options: argparse.Namespace) -> None:
    """Draw the picture; raises as `draw` does, and ValueError for an unknown picture."""
    name, recipe = _recipe(options.target)
    settings = Settings.from_recipe({**recipe, **parse_pairs(options.settings)})
    require_apart(options.output, [Path(options.target)])
    draw({_picture(name): options.output}, settings)


def _picture(name: str) -> Picture:
    from normgeo.pictures import PICTURES

    if name not in PICTURES:
        raise Refusal(
            "There is no picture {name!r}. The pictures are {pictures}; a recipe is a file.",
            name=name[:60],
            pictures=", ".join(PICTURES),
        )
    return PICTURES[name]


def _recipe(target: str) -> tuple[str, Mapping[str, Any]]:
    """Return a picture's name and settings, from a recipe's file ("-": standard input) or a name.

    A recipe is {"view": "effect", "settings": {"delta": 5}, "version": "0.1.0"}.

    Raises:
        ValueError: a file that is no recipe. OSError: a file that can't be read.

    """
    if target != "-" and not target.endswith(".json") and not Path(target).is_file():
        return target, {}
    try:
        recipe = json.loads(_read(target))
        name, settings = recipe["view"], recipe.get("settings", {})
        fits = isinstance(name, str) and isinstance(settings, dict)
        fits = fits and recipe.keys() <= {"view", "settings", "version"}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Refusal(_no_recipe(target, error)) from error
    if not fits:
        raise Refusal(_no_recipe(target, None))
    return name, settings


def _read(target: str) -> str:
    """Return the text of a recipe; a file of over a megabyte is refused."""
    with nullcontext(sys.stdin) if target == "-" else Path(target).open(encoding="utf-8") as file:
        content = file.read(LONGEST + 1)
    if len(content) > LONGEST:
        raise ValueError
    return content


def _no_recipe(target: str, error: Exception | None) -> str:
    return text(
        "A recipe is a JSON object such as "
        '{{"view": "effect", "settings": {{"delta": 5}}, "version": "0.1.0"}}; {target!s} is not '
        "one{why}.",
        target=target,
        why=_why(error),
    )


def _why(error: Exception | None) -> str:
    if isinstance(error, RecursionError):
        return text(" (nested too deeply)")
    return f" ({error})" if isinstance(error, json.JSONDecodeError) else ""
