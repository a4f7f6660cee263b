"""`normgeo fisher`: the spectrum and the null space of a model, on a data set or from files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.cli.output import add_format, print_table, program
from normgeo.cli.progress import Bar
from normgeo.settings import Settings, parse_pairs
from normgeo.tables.files import FOR_PROGRAMS
from normgeo.tables.table import Table

if TYPE_CHECKING:
    from normgeo.base.arrays import Array
    from normgeo.datasets.rows import Rows
    from normgeo.models.glm import NormalizedGLM

LARGEST = 2048  # parameters; the eigenvectors take its cube in operations
OF_FILES = ("family", "method", "groups", "eps", "statistics")
"""The settings of a model whose weights and inputs are in files."""

LETTERS = {
    "W": text("weights (H, D); then X is needed as well"),
    "X": text("inputs (N, D)"),
    "b": text("biases (H,); 0 without it"),
    "g": text("gains (H,); 1 without it"),
}


def add(commands: Any) -> None:
    """Add the command to the others, argparse's subparsers."""
    parser = commands.add_parser(
        "fisher",
        help=text("print the spectrum and the null space of a model's Fisher information"),
        description=text(
            "The spectrum and the null directions of the Fisher information of a model, on a "
            "data set or with arrays from .npy, .npz or .csv files; X may exceed the memory."
        ),
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "settings",
        nargs="*",
        metavar="SETTING",
        help=text(
            "name=value: dataset, family, method, neurons, seed …; `{program} pictures` lists them",
            program=program(),
        ),
    )
    for letter, what in LETTERS.items():
        parser.add_argument(f"-{letter}", f"--{letter}", metavar="FILE", type=Path, help=what)
    parser.add_argument(
        "--block",
        type=int,
        metavar="ROWS",
        help=text(
            "read X in blocks of so many rows and never hold it; over 512 MB, and of .parquet, "
            "automatic"
        ),
    )
    parser.add_argument(
        "--float32", action="store_true", help=text("as --block, with products in float32")
    )
    parser.add_argument(
        "-k", type=int, default=20, metavar="K", help=text("how many eigenvalues; default: 20")
    )
    parser.add_argument(
        "--all", action="store_true", help=text("of all parameters, not of the weights alone")
    )
    parser.add_argument(
        "--coupling",
        choices=("exact", "paper"),
        default="exact",
        help=text("paper: Eq. 13, each neuron's outputs by its own parameters only"),
    )
    add_format(parser, text("csv and json have a record for each eigenvalue and reason"))


def run(options: argparse.Namespace) -> None:
    """Compute and print.

    Raises:
        ValueError: bad settings or files, or a model without a z. OSError: a file that can't be
            read.

    """
    from normgeo.datasets.rows import Rows
    from normgeo.fisher.operator import fisher
    from normgeo.fisher.spectrum import spectrum
    from normgeo.null_directions.dimension import expected_dimension
    from normgeo.null_directions.explanation import explain
    from normgeo.null_directions.null_space import null_space
    from normgeo.tables.fisher import fisher_records, null_table, spectrum_table

    given = parse_pairs(options.settings)
    settings = Settings.from_recipe(given)
    _require_used(given, options)
    in_blocks = _in_blocks(options)
    bar = Bar(_row) if in_blocks else Bar(_step)
    rows = Progress.of(bar) if in_blocks else None
    model, X, title, notes = _from_files(options, settings, rows) or _from_data(settings)
    explanation = null = None
    with bar as report:
        progress = Progress(None if in_blocks else report)
        F = fisher(model, X, coupling=options.coupling)
        size = F.layout.size if options.all else len(F.layout.weights)
        found = spectrum(
            F, min(options.k, size), weights_only=not options.all, progress=progress.part(0, 3)
        )
        if size <= LARGEST:
            progress.tell(1, 3)
            null = null_space(F, weights_only=not options.all)
            progress.tell(2, 3)
        if null is not None and not isinstance(X, Rows):
            explanation = explain(model, X, null)
    what = "F" if options.all else "F_WW"
    if options.format in FOR_PROGRAMS:
        print_table(fisher_records(found, null, explanation, what), options.format)
        return
    H, D = model.W.shape
    about = text(
        "{method}, {title!s}, {family} outputs, H = {H}, D = {D}",
        method=model.normalizer.title,
        title=title,
        family=model.family.title,
        H=H,
        D=D,
    )
    print_table(_noted(spectrum_table(found, what, about), notes), options.format)
    print()
    if null is None:
        print(
            text(
                "The null directions of up to {most:,} parameters are counted; these are {size:,}.",
                most=LARGEST,
                size=size,
            )
        )
        return
    formula = None
    if not options.all and options.coupling == "exact":
        formula = expected_dimension(model.normalizer, H, D, model.family.key)
    print_table(null_table(null, explanation, what, formula), options.format)


def _require_used(given: Iterable[str], options: argparse.Namespace) -> None:
    """Refuse a setting that has no effect, since whoever gives it expects one."""
    files = [f"-{letter}" for letter in LETTERS if getattr(options, letter) is not None]
    used = OF_FILES if files else _of_data()
    unused = [name for name in given if name not in used]
    if unused:
        raise Refusal(
            "{unused} would change nothing with {files}; the settings here are {used}.",
            unused=", ".join(f"`{name}`" for name in unused),
            files=", ".join(files) if files else text("a data set"),
            used=", ".join(used),
        )


def _of_data() -> tuple[str, ...]:
    from normgeo.pictures.captions import USES

    return USES


def _step(done: int, steps: int) -> str:
    parts = text("spectrum"), text("null space"), text("reasons")
    part = min(len(parts) * done // steps, len(parts) - 1)
    return text("{percent} %: {part}", percent=100 * done // steps, part=parts[part])


def _row(done: int, rows: int) -> str:
    return text("{done:,} of {rows:,} rows, in one of several passes", done=done, rows=rows)


def _in_blocks(options: argparse.Namespace) -> bool:
    """Whether X is read in blocks of rows: by an option, or because it does not fit into memory."""
    from normgeo.datasets.numpy_files import LARGEST as MOST_BYTES

    path, asked = options.X, options.block is not None or options.float32
    if path is None or path.suffix.lower() == ".npz":
        if asked:
            raise Refusal(
                "--block and --float32 are of inputs from an .npy, .csv or .parquet file: -X."
            )
        return False
    large = path.is_file() and path.stat().st_size > MOST_BYTES
    return asked or large or path.suffix.lower() == ".parquet"


def _noted(table: Table, notes: tuple[str, ...]) -> Table:
    return Table(table.columns, table.rows, table.title, notes=(*table.notes, *notes))


def _from_data(settings: Settings) -> tuple[NormalizedGLM, Array, str, tuple[str, ...]]:
    """Return the model and cases of a data set, as the Symmetry page has them."""
    from normgeo.pictures.model_on_data import independent, model_on_data

    here = model_on_data(independent(settings), "standardized")
    return here.model, here.X, here.dataset.title, here.notes


def _tell(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def _from_files(
    options: argparse.Namespace, settings: Settings, rows: Progress | None
) -> tuple[NormalizedGLM, Array | Rows, str, tuple[str, ...]] | None:
    """Return the model and cases in files, None if no files are given.

    Cases come in blocks of rows, with a progress, if they are read so.
    """
    from normgeo.datasets.files import read_array
    from normgeo.datasets.rows import Rows
    from normgeo.models.glm import NormalizedGLM

    paths = {letter: getattr(options, letter) for letter in LETTERS}
    given = [letter for letter, path in paths.items() if path is not None]
    if not given:
        return None
    if paths["W"] is None or paths["X"] is None:
        raise Refusal(
            "A model from files needs its weights and its inputs: give both -W FILE and "
            "-X FILE; got {given} alone.",
            given=", ".join(f"-{letter}" for letter in given),
        )
    read = [letter for letter in given if letter != "X" or rows is None]
    found = {letter: read_array(letter, paths[letter], _tell) for letter in read}
    for letter in {"b", "g"} & found.keys():
        if found[letter].ndim == 2 and 1 in found[letter].shape:
            found[letter] = found[letter].reshape(-1)  # a row or a column of a .csv
    kind = "float32" if options.float32 else None
    X: Array | Rows
    if rows is None:
        X = found["X"]
    else:
        X = Rows.of(paths["X"], block=options.block, dtype=kind, progress=rows)
    W, method = found["W"], settings.normalizer
    family = "gaussian" if settings.family == "auto" else settings.family
    model = NormalizedGLM(
        method,
        family,
        W,
        found.get("b"),
        found.get("g"),
        reference=(W, X) if method.statistics == "frozen" else None,
    )
    return model, X, paths["W"].name, ()
