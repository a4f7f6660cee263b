"""`normgeo network`: Table 1 of a network of one's own, measured by running it."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from normgeo.base.interruption import stoppable
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.cli.output import add_format, add_output, format_of, give, program
from normgeo.cli.progress import Bar, Left, Told
from normgeo.measured.saved.examples import EXAMPLES
from normgeo.measured.table import MeasuredTable
from normgeo.tables.files import FILES

WHOLE = {
    "neurons": (0, text("axis of the neurons: 0 as in PyTorch, -1 as in Flax; default: 0")),
    "tries": (4, text("groups of rows that are tried by themselves; default: 4")),
    "seed": (0, text("of the changes; default: 0")),
}


class _Network(NamedTuple):
    """What a function has given: f, its parameters, and inputs or None."""

    f: Callable[..., Any]
    parameters: Any
    inputs: Any


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser(
        "network",
        help=text("measure which changes of its weights a network of yours ignores"),
        description=text(
            "Each tensor is changed on a copy, and the outputs are compared. FUNCTION is "
            "called once and returns (f, parameters), or (f, parameters, inputs), as "
            "normgeo.measure takes them."
        ),
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "target",
        nargs="?",
        metavar="MODULE:FUNCTION",
        help=text("or FILE.py:FUNCTION, or a saved table, FILE.json"),
    )
    parser.add_argument(
        "--example", choices=EXAMPLES, help=text("a table that ships, in place of a network")
    )
    for name, (default, what) in WHOLE.items():
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=what)
    parser.add_argument(
        "--embeddings",
        nargs="+",
        default=(),
        metavar="NAME",
        help=text("tensors whose rows are picked by tokens or places"),
    )
    parser.add_argument(
        "--matrices",
        nargs="*",
        metavar="NAME",
        help=text("weights of layers with one output or one input, in place of all (1, D)"),
    )
    parser.add_argument("--negative", action="store_true", help=text("factors are below 0"))
    parser.add_argument(
        "--as-it-is",
        action="store_true",
        help=text("run in the types of numbers that the parameters have, not in float64"),
    )
    parser.add_argument(
        "--cost", action="store_true", help=text("tell what it would take, and end")
    )
    # No Path: a table may be written over the part that it goes on with.
    parser.add_argument(
        "--resume", metavar="FILE", help=text("go on with a table that was stopped, .json")
    )
    add_format(parser)
    add_output(parser)


def run(options: argparse.Namespace) -> None:
    """Measure, and print or write.

    Raises:
        ValueError: no such function, or one that gives no network. OSError: a file that can't be
            read or written. KeyboardInterrupt: it was stopped, after what there is was written.

    """
    from normgeo.measured.saved.reading import read_measured

    format_of(options)  # a file that can't be written is refused before a long measurement
    target = options.target
    if (target is None) == (options.example is None):
        raise Refusal(
            "Give a function as MODULE:FUNCTION, a saved table, or --example, one of {names}.",
            names=", ".join(EXAMPLES),
        )
    if options.example is not None:
        _give(read_measured(EXAMPLES[options.example].path), options)
    elif ":" not in target and Path(target).suffix.lower() == ".json":
        _give(read_measured(target), options)
    else:
        part = None if options.resume is None else read_measured(options.resume)
        table = _measured(_network(target), part, options)
        if table is not None:
            _give(table, options)
            if not table.complete:
                _keep(table, options)
                raise KeyboardInterrupt


def _measured(
    network: _Network, part: MeasuredTable | None, options: argparse.Namespace
) -> MeasuredTable | None:
    """Tell the cost, and measure; None where the cost alone was asked for."""
    from normgeo.measured.measuring import measure, measuring_cost

    asked = {"neurons": options.neurons, "tries": options.tries}
    cost = measuring_cost(network.parameters, **asked)
    times = text(", with each input") if network.inputs is not None else ""
    said = text("It takes {cost}{times}.", cost=cost, times=times)
    print(said, file=sys.stdout if options.cost else sys.stderr, flush=True)
    if options.cost:
        return None
    left = Left(_passes)
    with stoppable() as stopped, Bar(left.words) as bar:
        return measure(
            *network,
            **asked,
            seed=options.seed,
            embeddings=options.embeddings,
            matrices=options.matrices,
            negative=options.negative,
            float64=not options.as_it_is,
            progress=Told(bar, stopped),
            resume=part,
        )


def _passes(done: int, steps: int) -> str:
    return text("Pass {done:,} of about {steps:,}", done=done, steps=steps)


def _network(target: str) -> _Network:
    """Call a function of the user's own for its network."""
    where, colon, name = target.rpartition(":")
    if not (where and colon and name.isidentifier()):
        raise Refusal(
            "A network is given as MODULE:FUNCTION, as in my_model:network; got {target!r}.",
            target=target[:80],
        )
    function = getattr(_module(where), name, None)
    if not callable(function):
        raise Refusal(
            "{where!s} must hold a function {name!r}; it has none.", where=where, name=name
        )
    given = function()
    if not (isinstance(given, tuple) and len(given) in (2, 3) and callable(given[0])):
        raise Refusal(
            "{target!s} must return (f, parameters) or (f, parameters, inputs), with a "
            "function f; it returned {kind}.",
            target=target[:80],
            kind=type(given).__name__,
        )
    return _Network(*given, *[None] * (3 - len(given)))


def _module(where: str) -> Any:
    """Import a module, or a file of Python, with what lies beside it."""
    path = Path(where)
    folder = path.resolve().parent if path.suffix == ".py" else Path.cwd()
    sys.path.insert(0, str(folder))
    if path.suffix == ".py":
        if not path.is_file():
            raise Refusal("There is no file {path!s}.", path=path)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise Refusal("{path!s} is no file of Python.", path=path)
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
        return module
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        if not (error.name and (where == error.name or where.startswith(f"{error.name}."))):
            raise  # a module that theirs imports, told where it does
        raise Refusal(
            "There is no module {where!r} here or among those installed. Give its name as in "
            "`import`, or its file, as my_model.py:network.",
            where=where[:80],
        ) from error


def _give(table: MeasuredTable, options: argparse.Namespace) -> None:
    """Write the table to its file, or print it."""
    if options.output is None:
        if options.format in ("csv", "json"):
            print(table.render(options.format), end="")
        else:
            give(options, *_tables(table))
    elif options.output.suffix.lower().removeprefix(".") in FILES:
        table.save(options.output)
    else:
        give(options, *_tables(table))


def _tables(table: MeasuredTable) -> tuple[Any, ...]:
    return table.table(), *([table.groups().table()] if table.complete else [])


def _keep(table: MeasuredTable, options: argparse.Namespace) -> None:
    """Write what there is of a stopped table to where it can be gone on with, and say where."""
    path = options.output
    if path is None or path.suffix.lower() != ".json":
        name = options.target.rpartition(":")[2] if path is None else path.stem
        path = (path or Path(name)).with_name(f"{name}.part.json")
        table.save(path)
    print(
        text(
            "Measured {done} of {all} tensors. Go on with: {program} network {target!s} --resume "
            "{path!s}",
            done=len(table.tensors),
            all=len(table.names),
            program=program(),
            target=options.target,
            path=path,
        ),
        file=sys.stderr,
    )
