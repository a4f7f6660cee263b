"""What a layer decides with its norm: which neurons turn, what balances, where ε counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.budget import Cost
from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.checkpoints.checkpoint import Checkpoint
from normgeo.checkpoints.epsilon import MUCH
from normgeo.checkpoints.examples import EXAMPLES
from normgeo.checkpoints.loading import Told
from normgeo.checkpoints.reading import read_layer
from normgeo.checkpoints.report import LayerReport, layer_report
from normgeo.checkpoints.trained_layer import TrainedLayer
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.pictures.captions import listed
from normgeo.pictures.picture import Study
from normgeo.pictures.work import BASE
from normgeo.settings import Settings
from normgeo.tables.layer import COLUMNS, STILL, sentences, values
from normgeo.tables.table import Table

CHOICES = (
    *("stands", "norm", "groups", "layer_eps"),
    *("trained_by", "rate", "decay", "mini_batch", "frozen_below"),
)
"""The settings that say of any layer what its file does not."""

SHARES = ("gain_share", "shorter_by_eps")
"""The columns of shares, which people read in percent."""

NEAR = 2.0  # times: at most so far from its balance, a block is said to be near it


class Neurons(NamedTuple):
    """What a picture, a table and a page tell of a layer.

    Attributes:
        title: of the layer. normalizer: its norm. values: of each neuron, by COLUMNS.
        blocks: how many homogeneous blocks there are, 0 for none.
        height: what stands for how fast a neuron turns, a word of COLUMNS.
        balance: the norm of each neuron's block at which growth and decay balance, and the angle
            there in degrees, (H,) each; None where neurons share blocks or nothing balances.
        over_balance: the norm of each block over that of its balance; None without one.
        shorter: how much shorter ε makes z, largest first; None where that is not known.
        shorter_of: of what these are, in words.
        without_angle, without_balance, without_epsilon: why these are not known, in a sentence, ""
            where it is said already.
        frozen_below: degrees a step. neuron: the one that is selected.
        said: all that is to be said, in sentences.

    """

    title: str
    normalizer: Normalizer
    values: dict[str, list[Any]]
    blocks: int
    height: str
    balance: tuple[Array, Array] | None
    over_balance: Array | None
    shorter: Array | None
    shorter_of: str
    without_angle: str
    without_balance: str
    without_epsilon: str
    frozen_below: float
    neuron: int
    said: tuple[str, ...]

    @property
    def frozen(self) -> list[int]:
        """The neurons that are too long to turn as much as stated."""
        return self._which("frozen")

    def _which(self, word: str) -> list[int]:
        return [h for h, true in enumerate(self.values[word]) if true]

    @property
    def headline(self) -> tuple[str, ...]:
        """The answers of the page, those that matter most here first."""
        return self._told(self._of_turning(), self._of_balance(), self._of_epsilon())

    @property
    def of_turning(self) -> tuple[str, ...]:
        """The same without what ε does."""
        return self._told(self._of_turning(), self._of_balance())

    def _told(self, *found: tuple[bool, str]) -> tuple[str, ...]:
        return tuple(
            sentence
            for matters in (True, False)
            for important, sentence in found
            if important is matters and sentence
        )

    def _of_turning(self) -> tuple[bool, str]:
        H, frozen, off = len(self.values["neuron"]), len(self.frozen), len(self._which("off"))
        if off == H:
            return True, text("All {H} gains are 0: W has no effect and gets no gradient.", H=H)
        if self.height != "angle":
            return False, self.without_angle
        without = len(self._which("no_gradient"))
        least = number(self.frozen_below)
        still = [
            text(
                "1 of {H} neurons is frozen: neuron {h} turns < {least}° a step.",
                H=H,
                h=self.frozen[0],
                least=least,
            )
            if frozen == 1
            else text(
                "{count} of {H} neurons are frozen: they turn < {least}° a step.",
                count=frozen,
                H=H,
                least=least,
            ),
            text("{count} of {H} neurons have a gain of 0.", count=off, H=H),
            text("{count} of {H} neurons have a gradient of 0.", count=without, H=H),
        ]
        told = [one for one, count in zip(still, (frozen, off, without), strict=True) if count]
        if told:
            return True, reduce(lambda a, b: text("{a} {b}", a=a, b=b), told)
        angles = [angle for angle in self.values["angle"] if angle is not None]
        low, high = number(min(angles), 2), number(max(angles), 2)
        turns = low if low == high else text("{low}° to {high}", low=low, high=high)
        return False, text("All {H} neurons turn, by {turns}° a step.", H=H, turns=turns)

    def _of_balance(self) -> tuple[bool, str]:
        if self.over_balance is None:
            return False, self.without_balance
        is_near = (self.over_balance < NEAR) & (self.over_balance > 1 / NEAR)
        near, far = int(is_near.sum()), np.flatnonzero(~is_near)
        if len(self.over_balance) == 1:
            return not near, text(
                "The norm is {over} times that at which growth and decay balance.",
                over=number(float(self.over_balance[0]), 2),
            )
        alone = len(self.over_balance) == len(self.values["norm"])  # a block is a neuron
        if alone and len(far) == 1 and 0 < (over := float(self.over_balance[far[0]])) < np.inf:
            return True, text(
                "The weights of neuron {h} are {over} times as long as at its balance ◇, the "
                "others {low} to {high} times.",
                h=int(far[0]),
                over=number(over, 3),
                low=number(float(self.over_balance[is_near].min()), 2),
                high=number(float(self.over_balance[is_near].max()), 2),
            )
        return near < len(self.over_balance), text(
            "The norm of {near} of {all} {what} is within a factor of {factor:g} of where growth "
            "and decay balance (◇).",
            what=text("neurons") if alone else text("blocks"),
            near=near,
            all=len(self.over_balance),
            factor=NEAR,
        )

    def _of_epsilon(self) -> tuple[bool, str]:
        if self.shorter is None:
            return False, self.without_epsilon
        count = int((self.shorter > MUCH).sum())
        if not count:  # the tab about ε tells how little
            return False, ""
        return True, text(
            "ε shortens z by more than {much} in {count} of {all} {what}, by {most} at most.",
            much=percent(MUCH),
            count=count,
            all=len(self.shorter),
            what=self.shorter_of,
            most=percent(float(self.shorter[0])),
        )

    @property
    def without_pairs(self) -> str:
        """Why nothing is said of ε in each case."""
        if self.shorter is None:
            return self.without_epsilon
        return text("What ε does in each case is not known without activations.")

    @property
    def _not_told(self) -> set[str]:
        shared = self.values["block_norm"] != self.values["norm"]
        return {"neuron", "block", "frozen", *STILL} | (set() if shared else {"block_norm"})

    @property
    def told(self) -> dict[str, list[Any]]:
        """The columns of which anything is known."""
        return {
            key: column
            for key, column in self.values.items()
            if key == "neuron"
            or (key in STILL and any(column))
            or ((key == "frozen" or key not in self._not_told) and column != [None] * len(column))
        }

    @property
    def of_neuron(self) -> str:
        """The numbers of the selected neuron, in a sentence."""
        parts = [
            text("{what} {value}", what=COLUMNS[key], value=_in_words(key, column[self.neuron]))
            for key, column in self.values.items()
            if key not in self._not_told and column[self.neuron] is not None
        ]
        state = next(
            (
                text(", {state}", state=COLUMNS[word])
                for word in ("frozen", *STILL)
                if self.values[word][self.neuron]
            ),
            "",
        )
        return text("Neuron {h}{state}: {parts}.", h=self.neuron, state=state, parts=listed(parts))


def without_epsilon(layer: TrainedLayer) -> str:
    """Why there is nothing to say of the ε of a layer's norm, where nothing else is known."""
    normalizer = layer.normalizer
    if layer.basis.is_unknown:
        return text("Which norm this layer has is not known, and so nothing of its ε.")
    if normalizer.is_standard:
        return text("There is no norm, and so no ε.")
    if not normalizer.added_eps:
        return text("This norm has no ε.")
    return text("Where ε counts is not known without activations.")


def percent(share: float) -> str:
    """A share in percent, small ones too."""
    return f"{number(100 * share, 2)}%"


def _in_words(key: str, value: object) -> str:
    """A value of a column of COLUMNS; shares are in percent."""
    if key in SHARES and isinstance(value, float):
        return percent(value)
    return number(float(value)) if isinstance(value, int | float) else str(value)


def neurons(report: LayerReport, title: str, neuron: int) -> Neurons:
    """Return what is told of a report; a neuron that it lacks stands for the last one."""
    told, own = values(report), len(report.norms) == len(report.row_norms)
    of_neurons = report.epsilon and report.epsilon.of_neurons
    of_cases = report.epsilon and report.epsilon.of_cases
    shorter = of_cases if of_neurons is None else of_neurons
    if shorter is None and report.epsilon is not None:
        shorter = report.epsilon.shortened.ravel()
    per = text("features") if report.layer.place.over_features else text("neurons")
    balance = None
    if report.balance is not None and own:
        of = report.block_of
        balance = report.balance.norm[of], np.degrees(report.balance.angle)[of]
    known = (key for key in ("angle", "effective_rate", "gain") if told[key][0] is not None)
    return Neurons(
        title,
        report.layer.normalizer,
        told,
        len(report.norms) if report.blocks.homogeneous else 0,
        next(known),
        balance,
        report.over_balance,
        None if shorter is None else np.sort(shorter)[::-1],
        text("cases") if of_neurons is None else per,
        _without_angle(report),
        text("There is no weight decay for growth to balance.")
        if report.blocks.homogeneous and not report.decay
        else "",
        without_epsilon(report.layer),
        report.frozen_below,
        min(neuron, len(report.row_norms) - 1),
        tuple(sentences(report)),
    )


def _without_angle(report: LayerReport) -> str:
    lacks = [
        what
        for what, known in ((text("gradients"), report.gradients), (text("η"), report.rate))
        if known is None
    ]
    if not lacks:
        return text("No angle is expected of {rule}.", rule=report.optimizer.title)
    what = lacks[0] if len(lacks) == 1 else text("{one} and {other}", one=lacks[0], other=lacks[1])
    return text("How far a step turns a neuron is not known without {what}.", what=what)


def corrections(settings: Settings) -> dict[str, Any]:
    """What the settings correct of a norm, as `Checkpoint.of` takes it."""
    norm = None if settings.norm == "auto" else NORMALIZERS[settings.norm]
    return {
        "place": None if settings.stands == "auto" else settings.stands,
        "normalizer": norm,
        "groups": settings.groups if norm is not None and norm.groups > 1 else None,
        "eps": settings.layer_eps,
    }


def cost(settings: Settings) -> Cost:
    """Nothing to speak of; but a place is refused that the norm of this layer can't have."""
    _checkpoint(settings).choose(None).require_possible()
    return BASE


def compute(settings: Settings, progress: Progress) -> Neurons:
    """What is told of a layer that ships."""
    return neurons(report_of(settings), EXAMPLES[settings.layer].title, settings.neuron)


def report_of(settings: Settings, **more: Any) -> LayerReport:
    """The report of a layer that ships, by its own optimizer where the settings leave it open."""
    here = EXAMPLES[settings.layer]
    found = _checkpoint(settings)
    batch = here.batch_size if settings.mini_batch is None else settings.mini_batch
    return layer_report(
        read_layer(found, found.choose(None), {}),
        optimizer=here.optimizer if settings.trained_by == "auto" else settings.trained_by,
        rate=settings.rate or here.rate,
        decay=here.decay if settings.decay is None else settings.decay,
        batch_size=batch or None,
        frozen_below=settings.frozen_below,
        **more,
    )


def every_example(settings: Settings) -> Iterator[Told]:
    """Yield what is told of each layer that ships; only the chosen one's norm is corrected."""
    for key, here in EXAMPLES.items():
        there = settings if key == settings.layer else replace(settings, stands="auto", norm="auto")
        there = replace(there, layer=key)
        proposal = replace(_checkpoint(there).choose(None), name=here.title)
        yield Told(proposal, report_of(there, eigenvalues=0), "")


def _checkpoint(settings: Settings) -> Checkpoint:
    return Checkpoint.of([EXAMPLES[settings.layer].path], **corrections(settings))


def _table(result: Neurons) -> Table:
    rows = tuple(zip(*result.values.values(), strict=True))
    return Table(tuple(result.values), rows, result.title, notes=result.said)


def _observed(result: Neurons) -> str:
    return " ".join(map(str, (*result.headline, result.of_neuron)))


STUDY = Study(
    name="trained_layer",
    title=text("Which neurons of a layer turn, and where ε counts"),
    source=text("section 5.2 on trained layers; angles by Wan et al. 2021 and Kosson et al. 2023"),
    alt=text(
        "Left, a mark for each neuron of a trained layer: the norm of its weight vector, and how "
        "far a step is expected to turn it. A cross is a frozen one, a large ring the selected "
        "one, a hollow diamond the place where growth and weight decay balance. Beside it, the "
        "neurons one by one, and where ε is the answer, by how much it makes z shorter."
    ),
    uses=("layer", "neuron", *CHOICES),
    compute=compute,
    cost=cost,
    table=_table,
    observed=_observed,
)
