"""The entry point of `normgeo`: run one command, or say in a sentence why it failed.

Statuses: 0 done, 1 not possible here (no browser, no permission), 2 a request without an answer,
130 interrupted. A bad value is refused, not replaced as in a URL: nobody reads warnings beside a
file. plotly and scikit-learn are imported by the commands that need them.
"""

from __future__ import annotations

import argparse
import codecs
import io
import sys
from collections.abc import Sequence
from typing import NoReturn, final

from normgeo import __version__
from normgeo.base.characters import spell
from normgeo.base.interruption import interruptible
from normgeo.base.refusal import Failure, Refusal
from normgeo.base.text import printable, text
from normgeo.cli import (
    audit,
    experiment,
    explorer,
    figures,
    fisher,
    layer,
    network,
    pictures,
    render,
    story,
    table,
    training,
)
from normgeo.cli.output import open_streams, program, silence_streams

COMMANDS = (
    *(explorer, table, audit, network, fisher, layer),
    *(render, figures, story, pictures, training, experiment),
)

LONGEST_COMPLAINT = 600  # characters


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    open_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # The formats decide line ends, and no missing character may end a command.
        codecs.register_error("spell", _spell)
        sys.stdout.reconfigure(newline="", errors="spell")
    try:
        with interruptible():
            _run(arguments)
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe.
        silence_streams()
        return 141
    except KeyboardInterrupt:
        return _say(text("Interrupted. Every file that was written is whole."), 130)
    except Refusal as error:
        return _say(_sentence(error), 2)
    except RecursionError:
        return _say(text("Something in the request is nested too deeply."), 2)
    except MemoryError as error:
        return _say(
            text(
                "The memory of this machine does not hold it{why}. Take fewer neurons, features or "
                "cases.",
                why=f" ({str(error).rstrip('.')})" if str(error) else "",
            ),
            1,
        )
    except (OSError, Failure) as error:
        return _say(_sentence(error), 1)
    return 0


def _run(arguments: Sequence[str]) -> None:
    for argument in arguments:
        if "\0" in argument:
            raise Refusal(
                "No name and no value holds a NUL character; got {argument!r}.",
                argument=argument[:60],
            )
    try:
        options = _parser().parse_args(arguments)
    except SystemExit:
        sys.stdout.flush()  # the reader of the help may have closed the pipe
        raise
    options.run(options)


@final
class _Parser(argparse.ArgumentParser):
    """A parser whose messages are short, and free of terminal control characters."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message)[:LONGEST_COMPLAINT])


def _parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = _Parser(
        prog=program(),
        description=text(
            "Invariance and geometry of normalization methods. `{program} open` opens the "
            "explorer in a browser.",
            program=program(),
        ),
    )
    parser.add_argument("--version", action="version", version=f"normgeo {__version__}")
    commands = parser.add_subparsers(required=True, metavar=text("COMMAND"))
    for command in COMMANDS:
        command.add(commands)
    return parser


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that a terminal lacks by words, where no alignment depends on them."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return spell(error.object[error.start : error.end], error.encoding), error.end


def _say(sentence: str, status: int) -> int:
    try:
        print(str(sentence), file=sys.stderr, flush=True)
        sys.stdout.flush()
    except OSError:
        # The interpreter's last flush must not report a full disk or a closed pipe.
        silence_streams()
    return status


def _sentence(error: Exception) -> str:
    """Return the message of an error, without the number of the operating system."""
    if isinstance(error, OSError) and error.strerror:
        return f"{printable(str(error.filename or ''))}: {error.strerror}.".removeprefix(": ")
    # `str` of an exception keeps the marks of the place where it was raised.
    return str(error.args[0]) if len(error.args) == 1 else str(error)
