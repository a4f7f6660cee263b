"""What a change does to z: eight cases or neurons before and after, and z under each method."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.datasets.dataset import Dataset
from normgeo.invariance.before_and_after import (
    AppliedChange,
    BeforeAndAfter,
    apply_change,
    shift_pattern,
)
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import listed
from normgeo.pictures.model_on_data import ModelOnData, model_on_data
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import Sizes, certificate_seconds, weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

CHANGE = ("cell", "center", "scale", "groups", "eps", "statistics", "delta", "index")

FACTORS = (-3.0, -2.0, -1.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
SHIFTS = (-3.0, -2.0, -1.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
COMPARED = ("batch", "layer", "weight")
SHOWN = 8
ROUNDING = 1e-9  # of the largest |z|: a smaller change of an invariant z


class EffectOnData(NamedTuple):
    """An effect, on which data, and the strength at which its slider opens.

    Attributes:
        effect: on a batch of eight cases. dataset: that they are of.
        cases: their numbers in it, (N,). chosen: the key of the selected method.
        start: the strength at which the slider opens. notes: for the reader.
        hidden: methods of which nothing is known here, only that they are asked about, by key.

    """

    effect: AppliedChange
    dataset: Dataset
    cases: NDArray[np.int_]
    chosen: str
    start: float
    notes: tuple[str, ...]
    hidden: Mapping[str, Normalizer] = MappingProxyType({})

    @property
    def rows(self) -> dict[str, Normalizer]:
        """All methods, known and hidden, in their order: those of the paper first."""
        methods = {key: method.normalizer for key, method in self.effect.methods.items()}
        found = {**methods, **self.hidden}
        order = {key: place for place, key in enumerate(COMPARED)}
        return {
            key: found[key] for key in sorted(found, key=lambda key: order.get(key, len(order)))
        }

    def only(self, known: Collection[str], steps: Sequence[int]) -> EffectOnData:
        """The same with what is known of some methods at some strengths.

        Nothing of the other methods and strengths, and no notes where a method is hidden.
        """
        whole, steps = self.effect, list(steps)
        hidden = {key: m.normalizer for key, m in whole.methods.items() if key not in known}
        effect = replace(
            whole,
            strengths=whole.strengths[steps],
            rows_after=whole.rows_after[steps],
            methods={
                key: replace(method, after=tuple(method.after[step] for step in steps))
                for key, method in whole.methods.items()
                if key in known
            },
        )
        return self._replace(effect=effect, hidden=hidden, notes=() if hidden else self.notes)

    @property
    def opening(self) -> int:
        """The place of the strength at which the slider opens."""
        return int(np.abs(self.effect.strengths - self.start).argmin())

    @property
    def names(self) -> list[int]:
        """The numbers of the shown rows: of cases, or of neurons."""
        shown = self.effect.shown
        return list(map(int, shown if self.effect.transform.matrix == "W" else self.cases[shown]))

    @property
    def case(self) -> int:
        """The number of the case whose z is shown."""
        return int(self.cases[self.effect.case])


def compute(settings: Settings, progress: Progress) -> EffectOnData:
    """The effect of the selected change on the selected method, and on the paper's three."""
    chosen, transform = settings.selected
    here = model_on_data(settings, "raw", chosen)
    cases, index, X = batch(settings, here)
    methods, notes = _compared(settings, chosen, here, X)
    rows = np.arange(min(SHOWN, len(transform.changed(here.model.W, X))))
    if index not in rows:
        rows[-1] = index
    found = apply_change(
        methods,
        transform,
        here.model.W,
        X,
        sorted({*frames(settings), settings.delta}),
        gamma=shift(settings, here.model.W, X),
        index=index,
        shown=rows,
        seed=settings.seed,
    )
    key = next(key for key, method in methods.items() if method == chosen)
    return EffectOnData(found, here.dataset, cases, key, settings.delta, (*here.notes, *notes))


def frames(settings: Settings) -> tuple[float, ...]:
    """The strengths that have a frame whatever is asked for."""
    return FACTORS if settings.selected[1].rescales else SHIFTS


def batch(settings: Settings, here: ModelOnData) -> tuple[NDArray[np.int_], int, Array]:
    """The numbers of the cases of a small batch, the row that changes, and the cases (N, D)."""
    transform = settings.selected[1]
    index = settings.index
    transform.require_row(here.model.W, here.X, index)
    first = index if transform.matrix == "X" else 0
    cases = shown_cases(here.dataset, first)
    if transform.matrix == "X":
        index = int(np.flatnonzero(cases == first)[0])
    return cases, index, here.X[cases]


def shown_cases(dataset: Dataset, first: int = 0) -> NDArray[np.int_]:
    """Up to eight cases with `first` among them, in their order: of all classes by turns."""
    order = [first, *(n for n in range(dataset.N) if n != first)]
    if not dataset.labelled:
        return np.sort(order[:SHOWN])
    classes: dict[int, list[int]] = {}
    for n in order:
        classes.setdefault(int(dataset.y[n]), []).append(n)
    turns = (n for turn in zip_longest(*classes.values()) for n in turn if n is not None)
    return np.sort([n for n, _ in zip(turns, range(SHOWN), strict=False)])


def shift(settings: Settings, W: Array, X: Array) -> Array | None:
    """γ of unit strength for the selected change, None where it re-scales."""
    _, transform = settings.selected
    if transform.rescales:
        return None
    # Not the generator that drew the weights: its first row would be the first weight vector.
    rng = np.random.default_rng((settings.seed, 1))
    return shift_pattern(transform, W, X, rng)


def _compared(
    settings: Settings, chosen: Normalizer, here: ModelOnData, X: Array
) -> tuple[dict[str, Normalizer], list[str]]:
    """The methods of the paper, whose contrast teaches, and the chosen one, with notes on them."""
    methods, notes = {}, []
    for key in COMPARED:
        normalizer = settings.adapt(NORMALIZERS[key])
        try:
            normalizer.normalize(here.model.W, X, (here.model.W, X))
        except Refusal as error:
            if normalizer == chosen:
                raise
            notes.append(text("No {name} here: {why}", name=text(normalizer.title), why=error))
            continue
        methods[key] = normalizer
    if chosen not in methods.values():
        methods[settings.cell.partition(".")[0]] = chosen
    notes += [
        text(
            "With two neurons the z of {name} is only a sign: always +1 and −1.",
            name=text(normalizer.title),
        )
        for normalizer in methods.values()
        if normalizer.leaves_only_signs(len(here.model.W))
    ]
    return methods, notes


def sign_and_words(effect: AppliedChange, method: BeforeAndAfter, step: int) -> tuple[str, str]:
    """The mark of a method at one step, "" where there is nothing to judge, and the verdict."""
    strength, verdict = effect.strengths[step], method.verdict
    if method.after[step].problem:
        return "", text("no z")
    if effect.transform.rescales and strength == 1:
        return "", text("nothing changed")
    turned = effect.transform.rescales and strength < 0
    if verdict.only_without_eps:
        return "≈", text("−z only at ε = 0") if turned else text("only at ε = 0")
    if verdict.invariant:
        return ("±", text("sign flip")) if turned else ("✓", text("invariant"))
    return "✗", text("not invariant")


def movement(method: BeforeAndAfter, step: int) -> str:
    """How far z of the shown case moved: max |z' − z|."""
    after = method.after[step]
    if method.verdict.invariant and after.change < ROUNDING:
        return text("z stays where it was")
    most = float(np.abs(after.z - method.before.z).max())
    return text("z moves by up to {most}", most=number(most, 2))


def _observed(result: EffectOnData) -> str:
    """What each method makes of the change where the slider opens."""
    effect, step = result.effect, result.opening
    if not effect.methods:
        return text("What becomes of z is hidden until it is predicted.")
    return text(
        "With {name} = {strength}: {methods}.",
        name=parameter(effect.transform),
        strength=number(effect.strengths[step]),
        methods=listed(_found(effect, method, step) for method in effect.methods.values()),
    )


def _found(effect: AppliedChange, method: BeforeAndAfter, step: int) -> str:
    return text(
        "{method}: {verdict}, {moved}",
        method=text(method.normalizer.title),
        verdict=sign_and_words(effect, method, step)[1],
        moved=movement(method, step),
    )


def digits_apart(before: float, after: float) -> int:
    """In how many digits two numbers differ: 2 at least, and where they are equal up to rounding.

    >>> digits_apart(1.7, -5.2), digits_apart(12.04, 12.46), digits_apart(12.04, 12.04)
    (2, 3, 2)

    """
    if np.isclose(before, after, rtol=ROUNDING, atol=0):
        return 2
    enough = (n for n in range(2, 10) if number(float(before), n) != number(float(after), n))
    return next(enough, 2)


def parameter(transform: Transform) -> str:
    """The name of what the slider moves."""
    return text("δ") if transform.rescales else text("strength of γ")


def _table(result: EffectOnData) -> Table:
    rows = []
    for name, method in result.effect.methods.items():
        for strength, after in zip(result.effect.strengths, method.after, strict=True):
            for h in range(len(after.z)):
                values = (after.summed_inputs, after.mu, after.sigma, after.z)
                rows.append(
                    (
                        name,
                        float(strength),
                        result.case,
                        h,
                        *(None if after.problem else float(value[h]) for value in values),
                        float(method.before.z[h]),
                        after.problem,
                    )
                )
    columns = "method strength case neuron a mu sigma z z_before problem"
    return Table(tuple(columns.split()), tuple(rows), title=result.effect.transform.label)


def _cost(settings: Settings) -> Cost:
    """Every method at every strength, and a certificate for each."""
    chosen, transform = settings.selected
    whole, methods = Sizes.of(settings, "raw", normalizer=chosen), len(COMPARED) + 1
    whole.require_z(chosen)
    transform.require_row(np.empty((whole.H, 0)), np.empty((whole.N, 0)), settings.index)
    sizes = whole.of_cases(SHOWN)
    strengths = len(FACTORS) + 1
    changed = Cost(8 * strengths * (sizes.N * sizes.D + sizes.H * sizes.D))
    certified = Cost(
        seconds=len(COMPARED) * certificate_seconds(1) + certificate_seconds(chosen.groups)
    )
    fitted = weights(settings, whole)
    return fitted + sizes.evaluations(methods * strengths) + changed + certified


STUDY = Study(
    name="effect",
    title=text("What a change does to z"),
    source=text("section 5.1, Table 1"),
    alt=text(
        "Eight cases, or weight vectors, with those that change marked; beside them z of one case "
        "before and after, and the verdict, method under method."
    ),
    uses=(*DATA, *CHANGE),
    slider="delta",
    frames=frames,
    compute=compute,
    table=_table,
    cost=_cost,
    observed=_observed,
)
