"""What each method averages, in whole numbers: one case is multiplied, and z is worked by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.normalizers.averages import Average, Worked, as_fractions, averages, worked
from normgeo.normalizers.example import read
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures.home import contrast
from normgeo.pictures.home.arithmetic import arithmetic
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

METHODS = ("batch", "layer", "weight")


class AtFactor(NamedTuple):
    """The example with one case times a factor.

    Attributes:
        X, A: fractions, (3, 3) each. z: by method, (3, 3); NaN where σ = 0.
        numbers: Eq. 5 for the marked entry, by method.

    """

    X: Array
    A: Array
    z: Mapping[str, Array]
    numbers: Mapping[str, Worked]


class Averages(NamedTuple):
    """The example at each factor of one case.

    Attributes:
        W: (3, 3). place: n and h of the marked entry; case n is multiplied.
        averaged: what each method averages for it. factors: δ. steps: the numbers at each.
        start: the factor at which the slider opens.

    """

    W: Array
    place: tuple[int, int]
    averaged: Mapping[str, Average]
    factors: tuple[float, ...]
    steps: tuple[AtFactor, ...]
    start: float

    @property
    def opening(self) -> int:
        """The place of the factor at which the slider opens."""
        return int(np.abs(np.array(self.factors) - self.start).argmin())

    @property
    def before(self) -> AtFactor:
        """The example as it is, times 1."""
        return self.steps[self.factors.index(1.0)]

    def stays(self, key: str, step: int) -> bool:
        """Whether z of the marked entry is the same as before, exactly."""
        before, after = self.before.numbers[key], self.steps[step].numbers[key]
        return _signed_square(before) == _signed_square(after)


def _signed_square(worked: Worked) -> object:
    """The sign of z times z²: a fraction; None without z."""
    deviation = worked.a - worked.mu
    return deviation * abs(deviation) / worked.variance if worked.variance else None


def compute(settings: Settings, progress: Progress) -> Averages:
    """The example of the settings, and the methods of the paper on it."""
    X, W = read(settings.example)
    n, h = map(int, settings.place.split("."))
    methods = {key: NORMALIZERS[key] for key in METHODS}
    found = averages(methods, W, X, (n, h))
    factors = tuple(sorted({*frames(settings), settings.delta}))
    steps = []
    for factor in progress.over(factors):
        changed = np.where(np.arange(len(X))[:, None] == n, X * factor, X)
        exact, weights = as_fractions(changed), as_fractions(W)
        z = {}
        for key, method in methods.items():
            C, v = method.moments(weights, exact)
            C, v = C.astype(float), np.broadcast_to(v, C.shape).astype(float)
            z[key] = np.divide(C, np.sqrt(v), out=np.full(C.shape, np.nan), where=v > 0)
        numbers = {key: worked(found[key], W, changed, (n, h)) for key in methods}
        steps.append(AtFactor(exact, exact @ weights.T, z, numbers))
    progress.require_whole()
    return Averages(W, (n, h), found, factors, tuple(steps), settings.delta)


def frames(settings: Settings) -> tuple[float, ...]:
    """The factors that have a frame whatever is asked for."""
    return contrast.frames(settings)


def _table(result: Averages) -> Table:
    rows = [
        (
            key,
            factor,
            n,
            h,
            float(step.A[n, h]),
            float(step.z[key][n, h]),
            bool(average.matrix == "A" and average.lit[n, h]),
        )
        for key, average in result.averaged.items()
        for factor, step in zip(result.factors, result.steps, strict=True)
        for n, h in np.ndindex(step.A.shape)
    ]
    columns = ("method", "factor", "case", "neuron", "a", "z", "averaged")
    return Table(columns, tuple(rows), title=STUDY.title)


def _observed(result: Averages) -> str:
    """The arithmetic, method by method."""
    step = result.steps[result.opening]
    words = " ".join(
        f"{text(average.normalizer.title)}: {'; '.join(arithmetic(step.numbers[key]))}."
        for key, average in result.averaged.items()
    ).replace("..", ".")
    factor = number(result.factors[result.opening])
    return (
        text("Case {n} is multiplied by {factor}.", n=result.place[0], factor=factor) + f" {words}"
    )


STUDY = Study(
    name="averages",
    title=text("What each method averages, in whole numbers"),
    source=text("sections 2 and 3, Eq. 2 and 3; section 5.1, Eq. 5"),
    alt=text(
        "Three cases X, the weights of three neurons, and their products A. In A, batch norm "
        "averages one neuron over the cases, layer norm one case over the neurons; weight norm "
        "takes the length of one weight vector. Below, z under each method, with the arithmetic."
    ),
    uses=("example", "place", "delta"),
    compute=compute,
    table=_table,
    observed=_observed,
    slider="delta",
    frames=frames,
)
