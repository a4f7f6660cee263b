"""The command line: `python -m normgeo`, or `normgeo` where it is installed.

Statuses: 0 done, 1 could not be done here (no browser, no permission), 2 asked for something that
there is not, 130 interrupted. A bad value is refused, not replaced as in a URL: nobody reads
warnings beside a file. plotly and scikit-learn are imported by the commands that need them.
"""

from __future__ import annotations

import argparse
import codecs
import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from normgeo import __version__
from normgeo.base.characters import spell
from normgeo.base.text import text
from normgeo.cli import audit, fisher
from normgeo.cli.output import print_table
from normgeo.cli.progress import Progress as Bar
from normgeo.settings import RULES, Settings, parse_pairs
from normgeo.tables.table import FORMATS, render
from normgeo.tables.verdicts import COLUMNS, ROWS, verdict_records, verdict_table

if TYPE_CHECKING:
    from normgeo.pictures.picture import Picture as View

FOR_PROGRAMS = ("csv", "json")
PICTURES = ("html", "png", "svg", "pdf")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Line ends belong to the formats, and no character may end a command.
        codecs.register_error("spell", _spell)
        sys.stdout.reconfigure(newline="", errors="spell")
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; the interpreter's own last flush must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return _say(text("Interrupted. Every file that was written is whole."), 130)
    except ValueError as error:
        return _say(str(error), 2)
    except (OSError, RuntimeError) as error:
        return _say(_sentence(error), 1)
    return 0


def _table(options: argparse.Namespace) -> None:
    rows, columns = ("grid", "all") if options.all else (options.rows, options.columns)
    eps = None if options.eps is None else Settings.from_recipe({"eps": options.eps}).eps
    if options.format in FOR_PROGRAMS:
        table = verdict_records(ROWS[rows], COLUMNS[columns], eps)
    else:
        table = verdict_table(ROWS[rows], COLUMNS[columns], eps, options.negative)
    print_table(table, options.format)


def _render(options: argparse.Namespace) -> None:
    name, recipe = _recipe(options.target)
    settings = Settings.from_recipe({**recipe, **parse_pairs(options.settings)})
    _draw({_view(name): [Path(path) for path in options.output]}, settings)


def _figures(options: argparse.Namespace) -> None:
    from normgeo.pictures import PICTURES

    folder = Path(options.folder)
    files = {
        view: [folder / f"{view.name}.{format}" for format in options.format or ["html"]]
        for view in PICTURES.values()
    }
    settings = Settings.from_recipe(parse_pairs(options.settings))
    folder.mkdir(parents=True, exist_ok=True)
    _draw(files, settings)


def _views(options: argparse.Namespace) -> None:
    from normgeo.pictures import PICTURES

    views = {
        view.name: text("{title}. Settings: {names}.", title=view.title, names=", ".join(view.uses))
        for view in PICTURES.values()
    }
    settings = {
        name: text(
            "{rule} [{default}]",
            rule=rule.sentence,
            default=str(getattr(Settings, name)).removesuffix(".0"),
        )
        for name, rule in RULES.items()
    }
    print(_listed(text("Views"), views), _listed(text("Settings [default]"), settings), sep="\n\n")


def _draw(files: Mapping[View, Sequence[Path]], settings: Settings) -> None:
    """Compute each view once and write its files, all with one browser if any needs one."""
    from normgeo.pictures.style import export

    formats = {path: _format(path) for paths in files.values() for path in paths}
    static = not set(export.STATIC).isdisjoint(formats.values())
    with export.browser() if static else nullcontext() as draw:
        for i, (view, paths) in enumerate(files.items(), start=1):
            names = ", ".join(map(str, paths))
            print(f"[{i}/{len(files)}] {view.title}: {names}", file=sys.stderr, flush=True)
            with Bar() as progress:
                result = view.compute(settings, progress)
            for path in paths:
                if formats[path] in FOR_PROGRAMS:
                    numbers = render(view.table(result), formats[path])
                    export.write_bytes(numbers.encode(), path)
                else:
                    figure = view.figure(result, settings.theme)
                    export.write(figure, path, title=view.title, draw=draw)


def _format(path: Path) -> str:
    """Return the format of a view's file: of its figure, or of its numbers."""
    from normgeo.pictures.style.export import format_of

    suffix = path.suffix.lower().removeprefix(".")
    return suffix if suffix in FOR_PROGRAMS else format_of(path)


def _view(name: str) -> View:
    from normgeo.pictures import PICTURES

    if name not in PICTURES:
        raise ValueError(
            text(
                "There is no view {name!r}. The views are {views}; a recipe is a file.",
                name=name,
                views=", ".join(PICTURES),
            )
        )
    return PICTURES[name]


def _recipe(target: str) -> tuple[str, Mapping[str, Any]]:
    """Return a view's name and settings, from a recipe's file ("-": standard input) or a name.

    A recipe is {"view": "effect", "settings": {"delta": 5}, "version": "0.1.0"}.

    Raises:
        ValueError: a file that is no recipe. OSError: a file that can't be read.

    """
    if target != "-" and not target.endswith(".json") and not Path(target).is_file():
        return target, {}
    try:
        recipe = json.loads(sys.stdin.read() if target == "-" else Path(target).read_text("utf-8"))
        view, settings = recipe["view"], recipe.get("settings", {})
        fits = isinstance(view, str) and isinstance(settings, dict)
        fits = fits and recipe.keys() <= {"view", "settings", "version"}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(_no_recipe(target, error)) from error
    if not fits:
        raise ValueError(_no_recipe(target, None))
    return view, settings


def _no_recipe(target: str, error: Exception | None) -> str:
    return text(
        "A recipe is a JSON object such as "
        '{{"view": "effect", "settings": {{"delta": 5}}, "version": "0.1.0"}}; {target} is not one'
        "{why}.",
        target=target,
        why=f" ({error})" if isinstance(error, json.JSONDecodeError) else "",
    )


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Replace what a terminal lacks by words, where no table's alignment depends on it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return spell(error.object[error.start : error.end], error.encoding), error.end


def _listed(title: str, entries: Mapping[str, str]) -> str:
    """Return names and sentences in two columns, under a title."""
    room, indent = min(shutil.get_terminal_size().columns, 100), 2 + max(map(len, entries)) + 2
    lines = (
        textwrap.fill(
            words,
            room,
            break_on_hyphens=False,
            initial_indent=f"  {name}".ljust(indent),
            subsequent_indent=" " * indent,
        )
        for name, words in entries.items()
    )
    return "\n".join((title, *lines))


def _say(sentence: str, status: int) -> int:
    print(sentence, file=sys.stderr)
    return status


def _sentence(error: Exception) -> str:
    """Return what happened, without the number that the operating system gives it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or ''}: {error.strerror}.".removeprefix(": ")
    return str(error)


def _parser() -> argparse.ArgumentParser:
    is_module = Path(sys.argv[0]).name == "__main__.py"
    parser = argparse.ArgumentParser(
        prog="python -m normgeo" if is_module else "normgeo",
        description=text("Invariance and geometry of normalization methods."),
    )
    parser.add_argument("--version", action="version", version=f"normgeo {__version__}")
    commands = parser.add_subparsers(required=True, metavar=text("COMMAND"))

    table = commands.add_parser("table", help=text("print Table 1, or the whole design space"))
    table.set_defaults(run=_table)
    table.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help=text("csv and json have a record for each cell, with what its verdict rests on"),
    )
    table.add_argument("--rows", choices=ROWS, default="paper", help=text("default: paper"))
    table.add_argument("--columns", choices=COLUMNS, default="paper", help=text("default: paper"))
    table.add_argument("--all", action="store_true", help="--rows grid --columns all")
    table.add_argument("--eps", metavar="ε", help=text("in use by batch and layer scales; 0"))
    table.add_argument(
        "--negative", action="store_true", help=text("re-scale by δ < 0 (csv and json: sign_flip)")
    )

    audit.add(commands)
    fisher.add(commands)

    how = text("name=value; `views` lists them")
    drawing = commands.add_parser("render", help=text("draw a view, or what a recipe says"))
    drawing.set_defaults(run=_render)
    drawing.add_argument("target", metavar="VIEW|RECIPE", help=text("a view, a JSON file, or -"))
    drawing.add_argument("settings", nargs="*", metavar="SETTING", help=how)
    drawing.add_argument(
        "-o",
        "--output",
        required=True,
        action="append",
        metavar="FILE",
        help=text(".html .png .svg .pdf, or its numbers: .csv .json; may be given again"),
    )

    figures = commands.add_parser("figures", help=text("draw every view"))
    figures.set_defaults(run=_figures)
    figures.add_argument("folder", metavar="DIR")
    figures.add_argument("settings", nargs="*", metavar="SETTING", help=how)
    figures.add_argument(
        "--format",
        action="append",
        choices=(*PICTURES, *FOR_PROGRAMS),
        help=text("html by default; may be given again"),
    )

    views = commands.add_parser("views", help=text("list the views, and the settings' rules"))
    views.set_defaults(run=_views)
    return parser


if __name__ == "__main__":
    sys.exit(main())
