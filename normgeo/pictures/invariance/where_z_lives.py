"""Where z lives: three neurons, every case a point, before and after a change of the table."""

from __future__ import annotations

from dataclasses import replace
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
from normgeo.datasets.datasets import DATASETS
from normgeo.invariance.before_and_after import shift_pattern
from normgeo.invariance.stages import Carried, Journey, journey, lengths
from normgeo.models.families import FAMILIES
from normgeo.pictures.invariance.effect import CHANGE, FACTORS, frames
from normgeo.pictures.model_on_data import model_on_data, neurons_of
from normgeo.pictures.picture import DATA, Study
from normgeo.pictures.work import Sizes, certificate_seconds, weights
from normgeo.settings import Settings
from normgeo.tables.table import Table

NEURONS = 3
CASES, CLASSES = 36, 3  # at most


class Places(NamedTuple):
    """A journey of real cases.

    Attributes:
        journey: the points. dataset: they are of. neurons, cases: their numbers in the layer and
            in the data set. labels: the class of each case, (N,), 0 to the number of `classes`.
        lengths: |z| of each case by its law, (N,). start: the strength at the start.
        notes: what a reader should know.

    """

    journey: Journey
    dataset: Dataset
    neurons: NDArray[np.int_]
    cases: NDArray[np.int_]
    labels: NDArray[np.int_]
    classes: tuple[str, ...]
    lengths: Array
    start: float
    notes: tuple[str, ...]

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Which of the cases is the one that changes, (N,); none where more than one does."""
        transform = self.journey.transform
        one = transform.operation.one_row and transform.matrix == "X"
        marked: NDArray[np.bool_] = (np.arange(len(self.cases)) == self.journey.index) & one
        return marked

    @property
    def what(self) -> str:
        """What changes, as short as in a formula."""
        transform, index = self.journey.transform, self.journey.index
        if not transform.operation.one_row:
            return transform.matrix
        if transform.matrix == "W":
            return text("neuron {h}: w", h=self.neurons[index])
        return text("case {n}: x", n=self.cases[index])

    @property
    def opening(self) -> int:
        """The place of the strength at the start."""
        return int(np.abs(self.journey.strengths - self.start).argmin())


class Count(NamedTuple):
    """How many cases came back, changed sign, and moved."""

    back: int
    turned: int
    moved: int

    @classmethod
    def of(cls, carried: Carried) -> Count:
        """Count the cases after a change."""
        back, turned = int(carried.back.sum()), int(carried.turned.sum())
        return cls(back, turned, len(carried.back) - back - turned)


def compute(settings: Settings, progress: Progress) -> Places:
    """The points of some cases under the selected method and change."""
    chosen, transform = settings.selected
    # Of three neurons there is one group.
    normalizer = replace(chosen, groups=1)
    asked = settings
    if settings.weights == "random":
        asked, chosen = _at_least_three(settings), normalizer
    here = model_on_data(asked, "raw", chosen)
    H = len(here.model.W)
    if H < NEURONS:
        raise Refusal(
            "Three neurons are drawn, and the fitted weights of {data!s} have {H}. Use random "
            "weights.",
            data=here.dataset.title,
            H=H,
        )
    one = settings.index if transform.operation.one_row else 0
    rows = H if transform.matrix == "W" else here.dataset.N
    if one >= rows:
        raise Refusal(
            "The {rows} rows of {matrix} are numbered from 0 to {last}: there is no row {index}.",
            rows=rows,
            matrix=transform.matrix,
            last=rows - 1,
            index=one,
        )
    of_W = transform.matrix == "W"
    neurons = _first(np.arange(H), NEURONS, one if of_W else 0)
    labels, classes = _classes(here.dataset)
    cases = _cases(labels, 0 if of_W else one)
    shown = np.unique(labels[cases])
    W, X = here.model.W[neurons], here.X[cases]
    gamma = None
    if not transform.rescales:
        gamma = shift_pattern(transform, W, X, np.random.default_rng((settings.seed, 1)))
    found = journey(
        normalizer,
        transform,
        W,
        X,
        sorted({*frames(settings), settings.delta}),
        gamma=gamma,
        index=int(np.flatnonzero((neurons if of_W else cases) == one)[0]),
        seed=settings.seed,
    )
    return Places(
        found,
        here.dataset,
        neurons,
        cases,
        np.searchsorted(shown, labels[cases]),
        tuple(classes[label] for label in shown),
        lengths(normalizer, W, X),
        settings.delta,
        _notes(settings, H, len(cases)),
    )


def _at_least_three(settings: Settings) -> Settings:
    H = neurons_of(DATASETS[settings.dataset].load(), settings)
    return replace(settings, neurons=max(H, NEURONS))


def _first(rows: NDArray[np.int_], count: int, one: int) -> NDArray[np.int_]:
    """The first of some rows in their order, and one that must be among them."""
    return np.sort(np.concatenate([[one], rows[rows != one][: count - 1]]))


def _classes(dataset: Dataset) -> tuple[NDArray[np.int_], tuple[str, ...]]:
    """The class of every case, and their names; "" where there are none."""
    if dataset.labelled:
        return dataset.y.astype(int), dataset.class_names
    if FAMILIES[dataset.family].has_classes:
        name = dataset.target_names[0]
        return dataset.y[:, 0].astype(int), (text("not {name!s}", name=name), name)
    return np.zeros(dataset.N, dtype=int), ("",)


def _cases(labels: NDArray[np.int_], one: int) -> NDArray[np.int_]:
    """The first cases of some classes in equal numbers, `one` and its class among them."""
    there = _first(np.unique(labels), CLASSES, int(labels[one]))
    found = [
        _first(rows, CASES // len(there), one if label == labels[one] else int(rows[0]))
        for label in there
        for rows in [np.flatnonzero(labels == label)]
    ]
    return np.sort(np.concatenate(found))


def _notes(settings: Settings, H: int, N: int) -> tuple[str, ...]:
    notes = [text("μ and σ are those of the {N} cases and 3 neurons drawn.", N=N)]
    if settings.weights == "fitted" and H > NEURONS:
        notes.append(text("Three of the {H} fitted neurons, as a layer of their own.", H=H))
    if settings.selected[0].groups > 1:
        notes.append(
            text(
                "Three neurons are one group: here {name} is layer norm's formula.",
                name=text(settings.selected[0].title),
            )
        )
    return tuple(notes)


def place(result: Places) -> str:
    """Where z lies, in a few words."""
    surface, journey = result.journey.surface, result.journey
    if surface.radius is None:
        if surface.normal is not None:
            return text("on a plane")
        return text("in a cloud")
    if surface.normal is None:
        if journey.normalizer.added_eps:
            return text("inside the sphere of radius √3")
        return text("on the sphere of radius √3")
    if journey.normalizer.added_eps:
        return text("inside the circle of radius √3")
    return text("on the circle of radius √3")


def said(result: Places, step: int) -> str:
    """How many cases came back at a strength."""
    journey, carried = result.journey, result.journey.after[step]
    N = len(carried.back)
    if carried.stages is None:
        return text("no z here")
    if journey.strengths[step] == (1 if journey.transform.rescales else 0):
        return text("nothing was changed")
    count = Count.of(carried)
    if count.turned and not count.moved:
        return text("{n} of {N} changed sign", n=count.turned, N=N)
    if count.moved:
        return text("{n} of {N} moved", n=count.moved, N=N)
    return text("{n} of {N} came back", n=count.back, N=N)


def sign(result: Places, step: int) -> str:
    """The mark of the certified verdict at a strength; "" where nothing was changed or is."""
    journey = result.journey
    strength, verdict = float(journey.strengths[step]), journey.verdict
    nothing = strength == (1 if journey.transform.rescales else 0)
    if nothing or journey.after[step].stages is None:
        return ""
    return "±" if verdict.sign_flip and strength < 0 else verdict.symbol


def _observed(result: Places) -> str:
    journey, step = result.journey, result.opening
    strength = number(float(journey.strengths[step]))
    words = [
        text(
            "{method}, {change}, δ = {strength}: {said}; the exact check says {verdict}."
            if journey.transform.rescales
            else "{method}, {change}, γ × {strength}: {said}; the exact check says {verdict}.",
            method=text(journey.normalizer.title),
            change=text(journey.transform.label),
            strength=strength,
            said=said(result, step),
            verdict=text(journey.verdict.word),
        ),
        text("Before the change z lies {place}.", place=place(result)),
    ]
    if journey.surface.radius is not None and journey.normalizer.added_eps:
        low, high = result.lengths.min(), result.lengths.max()
        words.append(
            text(
                "|z|² = 3v/(v + ε): |z| is from {low} to {high}.",
                low=number(float(low)),
                high=number(float(high)),
            )
        )
    return " ".join(map(str, words))


def _table(result: Places) -> Table:
    journey = result.journey
    rows = []
    for strength, carried in zip(journey.strengths, journey.after, strict=True):
        for n, case in enumerate(result.cases):
            now = carried.stages
            rows.append(
                (
                    float(strength),
                    int(case),
                    result.classes[result.labels[n]],
                    *(
                        None if points is None else float(points[n, h])
                        for points in (
                            *((None, None, None) if now is None else now),
                            journey.before.z,
                        )
                        for h in range(NEURONS)
                    ),
                    None if now is None else float(carried.distance[n]),
                    None if now is None else _word(carried, n),
                    carried.problem,
                )
            )
    names = [f"{stage}_{h}" for stage in ("a", "centered", "z", "z_before") for h in result.neurons]
    columns = ("strength", "case", "class", *names, "moved_by", "now", "problem")
    return Table(columns, tuple(rows), title=STUDY.title)


def _word(carried: Carried, n: int) -> str:
    return "back" if carried.back[n] else "turned" if carried.turned[n] else "moved"


def _cost(settings: Settings) -> Cost:
    """Few cases and neurons at some strengths, and a certificate."""
    sizes = Sizes.of(settings, "raw")
    small = sizes.of_cases(CASES).evaluations(2 * len(FACTORS) + 6)
    return weights(settings, sizes) + small + Cost(seconds=certificate_seconds(1))


STUDY = Study(
    name="where_z_lives",
    title=text("Where z lives"),
    source=text("section 5.1, Eq. 5 and Table 1"),
    alt=text(
        "Every case is a point with a coordinate for each of three neurons: the summed inputs "
        "a, then a − μ where a mean is subtracted, then z. It is hollow before the change and "
        "filled after it, with a line between."
    ),
    uses=(*DATA, *CHANGE),
    slider="delta",
    frames=frames,
    compute=compute,
    table=_table,
    cost=_cost,
    observed=_observed,
)
