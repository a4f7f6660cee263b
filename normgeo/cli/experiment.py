"""`normgeo experiment`: one of the paper's experiments, small and real, learned here."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from normgeo.base.interruption import stoppable
from normgeo.base.refusal import Failure, Refusal
from normgeo.base.text import text
from normgeo.base.writing import require_writable, write_bytes
from normgeo.cli.output import print_table
from normgeo.cli.progress import Bar, Left, Told, time_in_words
from normgeo.experiments.results import (
    METHODS,
    RULE,
    STATEMENTS,
    Result,
    decided,
    load,
    result_of,
    shares,
    verdict,
)
from normgeo.tables.table import Table

Number = TypeVar("Number", int, float)
SEEDS = (0, 1, 2)
SLOWEST = 1e-12
ALL = "all"


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser(
        "experiment",
        help=text("let a network of the paper's section 6 learn, with and without layer norm"),
        description=text(
            "A small version of one of the paper's experiments, on data that is here. Each "
            "method is judged at its best learning rate on a validation set. Needs JAX and "
            "optax. Ctrl-C ends it with what there is."
        ),
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "name", nargs="?", choices=STATEMENTS, metavar="NAME", help=", ".join(STATEMENTS)
    )
    parser.add_argument(
        "--list",
        action="store_true",
        help=text("the time and the memory that each needs here, about"),
    )
    parser.add_argument("--steps", type=int, metavar="N", help=text("of the optimizer"))
    parser.add_argument(
        "--seeds",
        default=",".join(map(str, SEEDS)),
        metavar="N,N…",
        help=text("of weights and batches; default: {seeds}", seeds="0,1,2"),
    )
    parser.add_argument("--norm", choices=(*METHODS, ALL), default=ALL)
    parser.add_argument(
        "--rates", metavar="N,N…", help=text("learning rates that are tried for each method")
    )
    parser.add_argument(
        "--data", metavar="WHERE", help=text("other data than those that ship: see docs")
    )
    parser.add_argument(
        "--device", metavar="NAME", help=text("cpu, gpu or tpu; default: what JAX finds")
    )
    parser.add_argument(
        "--resume",
        metavar="FILE",
        type=Path,
        help=text("a checkpoint: go on from it if it is there, and keep it up to date"),
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help=text("the result, as .json")
    )


def run(options: argparse.Namespace) -> None:
    """Learn, print what was found, and write it.

    Raises:
        ValueError: no name, or bad numbers. OSError: a file that can't be written.
        Failure: no JAX here.

    """
    if options.list:
        print_table(_listed(_there_is_jax()), "text")
        return
    if options.name is None:
        raise Refusal(
            "Name an experiment: {names}. Or ask for --list.", names=", ".join(STATEMENTS)
        )
    seeds = _numbers("--seeds", options.seeds, int, 0, "0,1,2")
    rates = (
        None
        if options.rates is None
        else _numbers("--rates", options.rates, float, SLOWEST, "0.001,0.01")
    )
    if options.steps is not None and options.steps < 1:
        raise Refusal("`--steps` must be at least 1; got {n}.", n=options.steps)
    if options.output is not None and options.output.suffix.lower() != ".json":
        raise Refusal("A result is written to .json; got {path!s}.", path=options.output)
    for path in filter(None, (options.output, options.resume)):
        require_writable(path)
    if not _there_is_jax():
        raise Failure('The experiments need JAX and optax: pip install "normgeo[experiments]".')
    from normgeo.experiments.networks.devices import choose
    from normgeo.experiments.networks.training import Training

    experiment = import_module(f"normgeo.experiments.networks.{options.name}").EXPERIMENT
    if options.norm not in (*experiment.methods, ALL):
        raise Refusal(
            "The norms of {name} are {methods}; got {norm!r}.",
            name=options.name,
            methods=", ".join(experiment.methods),
            norm=options.norm,
        )
    if options.data is not None and not experiment.own:
        raise Refusal("{name} has no other data than those that ship.", name=options.name)
    if options.device is not None:
        choose(options.device)
    left = Left()
    with stoppable() as stopped, Bar(left.words) as bar:
        training = Training(
            experiment,
            steps=options.steps or experiment.steps,
            seeds=seeds,
            rates=rates or experiment.rates,
            methods=experiment.methods if options.norm == ALL else (options.norm,),
            where=options.data,
        )
        if options.resume is not None and options.resume.exists():
            training.resume(options.resume)
        training.go(options.resume, Told(bar, stopped))
        command = command_of(options, training.asked)
        found = training.result(command, moves=options.output is not None)
    if options.output is not None:
        words = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        write_bytes(f"{words}\n".encode(), options.output)
    _print(result_of(found))


def _print(result: Result) -> None:
    """Print a row for each method and seed, and what they say of the paper's sentence."""
    rows = tuple(
        (method, seed, learned.rate, min(curve), test)
        for method, learned in result.methods.items()
        for seed, curve, test in zip(result.seeds, learned.validation, learned.test, strict=True)
    )
    columns = ("norm", "seed", "rate", "best on validation", "test")
    about = text("{measure}, {unit}", measure=result.measure, unit=result.unit)
    print_table(Table(columns, rows, title=about), "text")
    if decided(result):
        print(
            text(
                "{statement}\nHere: {verdict}. The faster method is as good after this share of "
                "the steps, by seed: {shares}. {rule}",
                statement=result.statement.words,
                verdict=verdict(result),
                shares=", ".join(
                    f"{share:.0%}" if isfinite(share) else text("never") for share in shares(result)
                ),
                rule=RULE,
            )
        )


def _there_is_jax() -> bool:
    return bool(find_spec("jax") and find_spec("optax"))


def _listed(here: bool) -> Table:
    """What the results that ship have taken, and with JAX what they would take on this machine."""
    results = [load(name) for name in STATEMENTS]
    note = text("The time is that of another machine: without JAX this one cannot be timed.")
    faster = dict.fromkeys(STATEMENTS, 1.0)
    if here:
        from normgeo.experiments.networks.pace import pace

        now = pace()
        faster = {each.name: now / each.pace for each in results}
        note = text("The time is about what this machine needs: a small network ran here now.")
    rows = tuple(
        (
            each.name,
            each.steps[-1],
            time_in_words(each.seconds * faster[each.name]),
            f"{each.bytes / 1e9:.1f} GB",
            each.data,
        )
        for each in results
    )
    return Table(("experiment", "steps", "time", "memory", "data"), rows, notes=(note,))


def command_of(options: argparse.Namespace, asked: Mapping[str, Any]) -> str:
    """Return the command with all that decides its numbers: the options, or what stood for them."""
    words = ["python", "-m", "normgeo", "experiment", options.name]
    words += ["--steps", str(asked["steps"]), "--norm", options.norm]
    if options.data is not None:
        words += ["--data", options.data]
    for name in ("seeds", "rates"):
        words += [f"--{name}", ",".join(map(str, asked[name]))]
    return shlex.join(words)


def _numbers(
    option: str, words: str, kind: Callable[[str], Number], least: float, example: str
) -> list[Number]:
    """Return the different numbers of a list, at least `least`."""
    found: list[Number] = []
    with suppress(ValueError):
        found = [kind(part) for part in words.split(",")]
    if not found or len({*found}) < len(found) or not all(least <= n < 2**31 for n in found):
        raise Refusal(
            "`{option}` must be different numbers, as {example}; got {words!r}.",
            option=option,
            example=example,
            words=words[:80],
        )
    return found
