"""`normgeo layer`: a layer of your own network, from files: norms, rates, angular updates, ε."""

from __future__ import annotations

import argparse
import sys
from os import PathLike
from pathlib import Path
from typing import Any

from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.cli.output import add_format, add_output, format_of, give
from normgeo.cli.progress import Bar
from normgeo.tables.files import FOR_PROGRAMS

EXTRA = {
    "x": text("inputs of the layer (N, D), or images (N, C, rows, columns)"),
    "stream": text("what its outputs are added to (N, H), or images of it"),
    "labels": text("labels, where its outputs are those of a model"),
    "gradient": text("gradient of the loss, as the weights stand in their file"),
}
WORDS = {
    "layer": text("which of several layers, by its name"),
    "norm": text("path of its norm in the files"),
    "place": text("where the norm stands: after, before or residual"),
    "method": text("what the norm is: batch, layer, rms, weight …"),
    "optimizer": text("gradient_descent, momentum, adam, adamw …"),
    "family": text("of the outputs, for X: gaussian, bernoulli, poisson or categorical"),
    "sort": text("by which column, largest first: norm, gain, effective_rate, angle …"),
}
SLIDING = {
    "stride": text("of a convolution over images: 2, or 2,1 for each axis; default: 1"),
    "padding": text("zeros around them, or same; default: 0"),
    "dilation": text("between the pixels of a window; default: 1"),
}
NUMBERS = {
    "groups": (int, text("groups of neurons that the norm takes apart")),
    "eps": (float, text("ε of the norm; no checkpoint holds it; default: 1e-5")),
    "rate": (float, text("learning rate η")),
    "decay": (float, text("weight decay λ; default: 0")),
    "batch-size": (int, text("cases of a batch; default: all of X")),
    "frozen-below": (float, text("degrees a step under which a block is frozen; default: 0.01")),
    "top": (int, text("how many neurons are shown; default: 20, and all for csv and json")),
}


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser(
        "layer",
        help=text("say what the weights of a layer and its norm decide, from files"),
        description=text(
            "Which changes of its weights a layer ignores, which of its neurons have stopped "
            "turning, whether decay and growth balance, and where ε counts. Of several layers "
            "all are told in a line each; --layer chooses one."
        ),
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        type=Path,
        help=text(".safetensors, .npz, .npy, .csv, or a model's folder; no code in them runs"),
    )
    parser.add_argument(
        "--example", metavar="NAME", help=text("a layer that ships: batch, layer or pre_norm")
    )
    parser.add_argument(
        "--roles", action="store_true", help=text("list which tensor is taken for what")
    )
    parser.add_argument(
        "--epsilon",
        action="store_true",
        help=text("list of which neurons, in which cases of X, ε takes most off z"),
    )
    parser.add_argument(
        "--role",
        action="append",
        default=[],
        metavar="TENSOR=ROLE",
        help=text("correct it: weight, bias, gain, running_mean, running_var, x …"),
    )
    for name, what in EXTRA.items():
        parser.add_argument(f"--{name}", metavar="FILE", type=Path, help=what)
    for name, what in WORDS.items():
        parser.add_argument(f"--{name}", metavar="NAME", help=what)
    for name, what in SLIDING.items():
        parser.add_argument(f"--{name}", metavar="N", help=what)
    for name, (kind, what) in NUMBERS.items():
        parser.add_argument(f"--{name}", metavar="N", type=kind, help=what)
    parser.add_argument(
        "--one-plus",
        action="store_true",
        default=None,
        help=text("the gain of the norm is 1 and what the file has, as in Gemma"),
    )
    add_format(
        parser, text("csv and json have all digits: a record for each neuron, or for each layer")
    )
    add_output(parser)


def _product(done: int, steps: int) -> str:
    return text("{percent} %: eigenvalues", percent=100 * done // steps)


def run(options: argparse.Namespace) -> None:
    """Read, compute and print.

    Raises:
        ValueError: bad files, names or numbers. OSError: a file that can't be read.

    """
    from normgeo.checkpoints.checkpoint import Checkpoint
    from normgeo.checkpoints.loading import every_layer, gradients_of
    from normgeo.checkpoints.reading import read_layer
    from normgeo.checkpoints.report import FROZEN, layer_report
    from normgeo.checkpoints.windows import Sliding, typed
    from normgeo.tables import layer as tables
    from normgeo.tables.epsilon import epsilon_records, epsilon_table
    from normgeo.tables.layers import layer_records, layers_table

    format = format_of(options)
    extra = {name: getattr(options, name) for name in EXTRA}
    moves = {name: getattr(options, name) for name in SLIDING}
    sliding = Sliding.of(**{name: typed(word) for name, word in moves.items() if word is not None})
    found = Checkpoint.of(
        _files(options),
        dict(map(_role, options.role)),
        norm=options.norm,
        place=options.place,
        normalizer=options.method,
        groups=options.groups,
        eps=options.eps,
        one_plus=options.one_plus,
    )
    if options.roles:
        layers = tables.proposals_table(found.proposals, found.left_out)
        give(options, tables.roles_table(found), *([] if format in FOR_PROGRAMS else [layers]))
        return
    stated = {
        "optimizer": options.optimizer or "gradient_descent",
        "rate": options.rate,
        "decay": options.decay or 0.0,
        "batch_size": options.batch_size,
        "frozen_below": FROZEN if options.frozen_below is None else options.frozen_below,
    }
    sort = options.sort or "neuron"
    gradients = {} if options.gradient is None else gradients_of(found, options.gradient)
    of_one = any(file and not (what == "gradient" and gradients) for what, file in extra.items())
    if options.epsilon or options.layer is not None or len(found.proposals) == 1 or of_one:
        layer = read_layer(found, found.choose(options.layer), extra, sliding)
        with Bar(_product) as progress:
            report = layer_report(layer, family=options.family, progress=progress, **stated)
        top = 20 if options.top is None and options.output is None else options.top
        if options.epsilon and format in FOR_PROGRAMS:
            table = epsilon_records(report)
        elif options.epsilon:
            table = epsilon_table(report, top)
        elif format in FOR_PROGRAMS:
            table = tables.records_table(report, sort)
        else:
            table = tables.neurons_table(report, sort, top)
        give(options, table)
        return
    every = every_layer(found, gradients=gradients, **stated)
    table = layers_table(every, found.left_out)
    names = [proposal.name for proposal in found.proposals]
    give(options, layer_records(table, names) if format in FOR_PROGRAMS else table)
    if options.output is None:
        print(
            text("Choose one with --layer NAME; --roles lists which tensor is what."),
            file=sys.stderr,
        )


def _files(options: argparse.Namespace) -> list[str | PathLike[str]]:
    if options.files and options.example is None:
        return list(options.files)
    from normgeo.checkpoints.examples import example

    if options.files or options.example is None:
        raise Refusal("Give files of tensors, or one --example.")
    return [example(options.example).path]


def _role(word: str) -> tuple[str, str]:
    name, separator, role = word.rpartition("=")
    if not separator:
        raise Refusal("`--role` must have the form TENSOR=ROLE; got {word!r}.", word=word[:80])
    return name, role
