"""The picture of a walk along a null direction of W, and along one at random for contrast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arguments import whole_number
from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.datasets.dataset import Dataset
from normgeo.null_directions.direction import Direction, directions
from normgeo.null_directions.walk import Walk, walk
from normgeo.pictures.captions import USES
from normgeo.pictures.picture import Study
from normgeo.pictures.symmetry.null_directions import NullDirections, model_of, null_directions
from normgeo.pictures.symmetry.null_directions import cost as cost_of_directions
from normgeo.pictures.work import Sizes
from normgeo.settings import Settings
from normgeo.tables.table import Table

STEPS = tuple(step / 4 for step in range(-3, 13))


@final
@dataclass(frozen=True, eq=False)
class Walks:
    """A walk along a null direction, and one as far along a direction at random.

    Attributes:
        found: the null directions. directions: one of each reason that explains some.
        chosen: the one that is walked along, None where there is none.
        null: the walk along it, None without one. random: the other one.
        start: the step at which the slider opens.
        dataset: of the model. case: whose predictions are drawn.
        notes: sentences for the reader.

    """

    found: NullDirections
    directions: tuple[Direction, ...]
    chosen: Direction | None
    null: Walk | None
    random: Walk
    start: float
    dataset: Dataset
    case: int
    notes: tuple[str, ...]

    @property
    def opening(self) -> int:
        """The place of the step at which the slider opens."""
        return int(np.abs(self.steps - self.start).argmin())

    @property
    def steps(self) -> Array:
        """How far the walks go, over the length of the weight vectors that move, (T,)."""
        return self.random.steps


def compute(settings: Settings, progress: Progress) -> Walks:
    """The null directions, and the KL and the predictions on the way along one of them."""
    found = null_directions(settings, progress.part(0, 2))
    it = model_of(settings)
    model, X, W = it.model, it.X, it.model.W
    pattern = X[min(settings.index, len(X) - 1)]
    if it.dataset.image_shape is not None:
        pattern = it.dataset.raw[min(settings.index, len(X) - 1)][it.dataset.kept]
    all_of_them: tuple[Direction, ...] = ()
    if found.explanation is not None:
        all_of_them = directions(model, found.explanation, neuron=settings.neuron, pattern=pattern)
    chosen, notes = _chosen(settings.along, all_of_them)
    # Not the generator that drew the weights: its first numbers would be W.
    drawn = np.random.default_rng((settings.seed, 2)).standard_normal(W.shape)
    other = drawn * (np.linalg.norm(W) / np.linalg.norm(drawn))
    if chosen is not None:
        other = chosen.beside(drawn)
    steps = np.array(sorted({*STEPS, settings.walk}))
    null = None
    if chosen is not None:
        null = walk(model, X, chosen.change, steps, case=settings.index)
    random = walk(model, X, other, steps, case=settings.index)
    progress.tell(2, 2)
    return Walks(
        found,
        all_of_them,
        chosen,
        null,
        random,
        settings.walk,
        it.dataset,
        settings.index,
        (*found.notes, *notes),
    )


def _chosen(key: str, found: tuple[Direction, ...]) -> tuple[Direction | None, list[str]]:
    """The direction of a reason, or the first one and why."""
    for one in found:
        if one.reason == key:
            return one, []
    if not found:
        return None, []
    if key == Settings.along:
        return found[0], []
    sentence = text(
        "No null direction here has the reason {key!r}: the walk is along {title}.",
        key=key,
        title=found[0].title,
    )
    return found[0], [sentence]


def _table(result: Walks) -> Table:
    rows = []
    both = (("null", result.null), ("random", result.random))
    for name, one in both:
        if one is None:
            continue
        reason = result.chosen.title if name == "null" and result.chosen is not None else ""
        for t, step in enumerate(one.steps.tolist()):
            kl = None if one.problems[t] else float(one.kl[t])
            for h, before in enumerate(one.before.tolist()):
                mean = None if one.problems[t] else float(one.means[t, h])
                rows.append(
                    (
                        name,
                        reason,
                        step,
                        kl,
                        float(one.rounding[t]),
                        result.case,
                        h,
                        before,
                        mean,
                        one.problems[t],
                    )
                )
    columns = "direction reason step kl kl_rounding case neuron mean_before mean problem"
    return Table(tuple(columns.split()), tuple(rows), str(headline(result.found)))


def headline(found: NullDirections) -> str:
    """Whether F is singular, and how many directions it does not see, without a full stop."""
    k, total, left = found.null.dimension, len(found.null.singular_values), found.null.undecided
    if not k and left:
        return text(
            "The Fisher matrix may be singular: {open} of {total} directions are undecided",
            total=total,
            open=left,
        )
    if not k:
        return text("The Fisher matrix is regular: every direction changes something")
    if left:
        return text(
            "{k} of {total} directions change nothing, {open} undecided; F is singular",
            k=k,
            total=total,
            open=left,
        )
    return text(
        "{k} of {total} directions change nothing: the Fisher matrix F is singular",
        k=k,
        total=total,
    )


def _observed(result: Walks) -> str:
    t = result.opening
    step = number(float(result.steps[t]))
    said = [text("{headline}.", headline=headline(result.found))]
    if result.null is not None and result.chosen is not None:
        said.append(
            text(
                "At step {step} along {title}, {words}.",
                step=step,
                title=result.chosen.title,
                words=kl_in_words(result.null, t),
            )
        )
    said.append(
        text(
            "At step {step} along a direction at random, {words}.",
            step=step,
            words=kl_in_words(result.random, t),
        )
    )
    return " ".join(map(str, said))


def kl_in_words(one: Walk, t: int) -> str:
    """The KL of a step, or why there is none."""
    if one.problems[t]:
        return text("there is no model: {problem}", problem=one.problems[t])
    if one.still[t]:
        return text("the KL is 0")
    return text("the KL is {kl} nats per case", kl=number(float(one.kl[t]), 2))


def _cost(settings: Settings) -> Cost:
    sizes = Sizes.of(settings, "standardized", apart=True)
    whole_number("case", settings.index, 0, sizes.N - 1, text("the cases"))
    whole_number("neuron", settings.neuron, 0, sizes.H - 1, text("the neurons"))
    return cost_of_directions(settings) + sizes.evaluations(2 * (len(STEPS) + 1))


STUDY = Study(
    "walk",
    title=text("A walk along a direction that the model does not see"),
    source=text("section 5.1, Table 1; section 5.2.2"),
    alt=text(
        "Two walks of the same length in weight space, side by side: along a direction that "
        "changes nothing, and along one at random. Each has the predictions for one case before "
        "and after, and the KL divergence. Above them, the reasons why directions change nothing, "
        "with how many each explains."
    ),
    uses=(*USES, "along", "walk", "neuron", "index"),
    compute=compute,
    table=_table,
    cost=_cost,
    observed=_observed,
    slider="walk",
    frames=lambda settings: STEPS,
)
