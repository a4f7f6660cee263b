"""`normgeo audit`: every statement with its verdict; an error if one is not as expected."""

from __future__ import annotations

import argparse
import shutil
from typing import TYPE_CHECKING, Any

from normgeo.base.refusal import Failure
from normgeo.base.text import text
from normgeo.cli.output import add_format, print_table
from normgeo.cli.progress import Bar
from normgeo.tables.files import FOR_PROGRAMS

if TYPE_CHECKING:
    from normgeo.claims import Audited

WIDEST = 100


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser(
        "audit",
        help=text("check the statements of the paper; status 1 if a verdict is not the known one"),
    )
    parser.set_defaults(run=run)
    add_format(parser, text("csv and json have a record for each statement, with all digits"))


def run(options: argparse.Namespace) -> None:
    """Check all claims and print them.

    Raises:
        Failure: a verdict that is not the expected one, after all were printed; or a check
            that cannot be computed.

    """
    from normgeo.claims import audit
    from normgeo.tables.audit import audit_records, audit_table, listing

    with Bar(_checked) as report:
        audited = tuple(audit(report))
    if options.format == "text":
        print(listing(audited, min(shutil.get_terminal_size().columns, WIDEST)), end="")
    elif options.format in FOR_PROGRAMS:
        print_table(audit_records(audited), options.format)
    else:
        print_table(audit_table(audited), options.format)
    _require_expected(audited)


def _checked(done: int, statements: int) -> str:
    return text("Checked {done} of {all} statements", done=done, all=statements)


def _require_expected(audited: tuple[Audited, ...]) -> None:
    wrong = [
        text(
            "{key} is {verdict!r}, not {expected!r}",
            key=one.claim.key,
            verdict=one.verdict,
            expected=one.claim.expected,
        )
        if one.verdict != one.claim.expected
        else text("the repair of {key} is none", key=one.claim.key)
        for one in audited
        if not one.as_expected
    ]
    if wrong:
        raise Failure(
            "{count} of {all} verdicts are not the known ones: {wrong}.",
            count=len(wrong),
            all=len(audited),
            wrong="; ".join(wrong),
        )
