"""`normgeo table`: Table 1 of the paper, or the whole design space."""

from __future__ import annotations

import argparse
from typing import Any

from normgeo.base.text import text
from normgeo.cli.output import add_format, print_table
from normgeo.settings import Settings
from normgeo.tables.files import FOR_PROGRAMS
from normgeo.tables.verdicts import COLUMNS, ROWS, verdict_records, verdict_table


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser("table", help=text("print Table 1, or the whole design space"))
    parser.set_defaults(run=run)
    add_format(
        parser, text("csv and json have a record for each cell, with what its verdict rests on")
    )
    default = text("default: paper")
    parser.add_argument("--rows", choices=ROWS, default="paper", help=default)
    parser.add_argument("--columns", choices=COLUMNS, default="paper", help=default)
    parser.add_argument("--all", action="store_true", help="--rows grid --columns all")
    parser.add_argument(
        "--eps", metavar="ε", help=text("in use by batch and layer scales; default: 0")
    )
    parser.add_argument(
        "--seed", metavar="n", default="0", help=text("of the random draw that a ✓ rests on")
    )
    parser.add_argument(
        "--negative", action="store_true", help=text("re-scale by δ < 0 (csv and json: sign_flip)")
    )


def run(options: argparse.Namespace) -> None:
    """Print the table.

    Raises:
        ValueError: a bad ε or seed.

    """
    rows, columns = ("grid", "all") if options.all else (options.rows, options.columns)
    eps = None if options.eps is None else Settings.from_recipe({"eps": options.eps}).eps
    seed = Settings.from_recipe({"seed": options.seed}).seed
    if options.format in FOR_PROGRAMS:
        table = verdict_records(ROWS[rows], COLUMNS[columns], eps, seed)
    else:
        table = verdict_table(ROWS[rows], COLUMNS[columns], eps, options.negative, seed)
    print_table(table, options.format)
