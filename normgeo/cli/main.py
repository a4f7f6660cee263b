"""What `normgeo` does with its words: run one command, and say in a sentence where it can't.

Statuses: 0 done, 1 could not be done here (no browser, no permission), 2 asked for something that
there is not, 130 interrupted. A bad value is refused, not replaced as in a URL: nobody reads
warnings beside a file. plotly and scikit-learn are imported by the commands that need them.
"""

from __future__ import annotations

import argparse
import codecs
import io
import os
import sys
from collections.abc import Sequence

from normgeo import __version__
from normgeo.base.characters import spell
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.cli import audit, explorer, figures, fisher, pictures, render, table
from normgeo.cli.output import program

COMMANDS = (explorer, table, audit, fisher, render, figures, pictures)


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
        return _say(str(text("Interrupted. Every file that was written is whole.")), 130)
    except Refusal as error:
        return _say(_sentence(error), 2)
    except (OSError, RuntimeError) as error:
        return _say(_sentence(error), 1)
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return the parser; made anew for each run, its sentences are in the language in use."""
    parser = argparse.ArgumentParser(
        prog=program(),
        description=str(
            text(
                "Invariance and geometry of normalization methods. `{program} open` opens the "
                "explorer in a browser.",
                program=program(),
            )
        ),
    )
    parser.add_argument("--version", action="version", version=f"normgeo {__version__}")
    commands = parser.add_subparsers(required=True, metavar=str(text("COMMAND")))
    for command in COMMANDS:
        command.add(commands)
    return parser


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Replace what a terminal lacks by words, where no table's alignment depends on it."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return spell(error.object[error.start : error.end], error.encoding), error.end


def _say(sentence: str, status: int) -> int:
    print(sentence, file=sys.stderr)
    return status


def _sentence(error: Exception) -> str:
    """Return what happened, without the number that the operating system gives it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or ''}: {error.strerror}.".removeprefix(": ")
    # An exception's own `str` would be in the language it was raised in.
    return str(error.args[0]) if len(error.args) == 1 else str(error)
