"""Which cases held out a residual network tells right, by the place of its norm and its depth.

The numbers are measured by `python -m tools.depth_accuracy` and kept in `accuracy.json`, with the
settings of the runs, so that a page has them at once. Every place is trained at the same rates; the
rate of each place and depth is the one that tells most validation cases right.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.progress import Progress, Report
from normgeo.base.text import text
from normgeo.datasets.datasets import DATASETS
from normgeo.dynamics.schedules import WarmUp
from normgeo.networks.blocks import PLACES
from normgeo.networks.residual import ResidualNetwork
from normgeo.networks.training import ResidualHistory, train_residual
from normgeo.normalizers.normalizer import Normalizer

KINDS = {**{key: place.title for key, place in PLACES.items()}, "none": text("no norm")}
WARMING = {"without": text("without warm-up"), "with": text("with warm-up")}
METHOD = "layer"
DEPTHS = (1, 2, 4, 8, 12, 16, 32)
RATES = (0.0003, 0.001, 0.003, 0.01, 0.03)
SEEDS = 3
WIDTH, CLASSES = 32, 10
EPOCHS, BATCH = 10, 64
WARM = 0.2  # of the steps
TESTED = 0.2  # of the cases; of the others as much is for validation
MARGIN = 0.02  # of the test cases, by which one place is ahead of another at least
FILE = "accuracy.json"


class Cases(NamedTuple):
    """Digits, standardized by those for training: (N, D) and their classes (N,) each."""

    X: Array
    y: Array
    X_validation: Array
    y_validation: Array
    X_test: Array
    y_test: Array


class Run(NamedTuple):
    """The end of a run.

    Attributes:
        validation, test: how many cases are told right. loss: of training, the mean of the last
            epoch, in nats per case.

    """

    validation: int
    test: int
    loss: float


@final
@dataclass(frozen=True, eq=False)
class Chosen:
    """The runs at the rates that validation chooses.

    Attributes:
        rates: of each kind with and without warm-up, by depth, (depths,).
        shares: of the test cases that are told right, (depths, seeds); 0 where a run has no end.
        losses: of training, likewise; NaN where a run has no end.

    """

    rates: Array
    shares: Array
    losses: Array


@final
@dataclass(frozen=True, eq=False)
class Accuracy:
    """All runs that were measured.

    Attributes:
        depths, rates: of the runs. runs: by kind and warm-up, (depths, rates, seeds, 3): the cases
            told right in validation and test, and the loss; NaN where a run has no end.
        tested: how many test cases there are. settings: of the runs, as they are kept.

    """

    depths: tuple[int, ...]
    rates: tuple[float, ...]
    runs: dict[tuple[str, str], Array]
    tested: int
    settings: dict[str, Any]

    def chosen(self, kind: str, warming: str) -> Chosen:
        """The runs at the rate that is best in validation over all seeds; of equals the smaller."""
        runs = self.runs[kind, warming]
        best = np.nan_to_num(runs[..., 0]).sum(axis=2).argmax(axis=1)
        at = runs[np.arange(len(runs)), best]
        return Chosen(
            np.array(self.rates)[best], np.nan_to_num(at[..., 1]) / self.tested, at[..., 2]
        )

    def share(self, kind: str, warming: str, depth: int) -> float:
        """The share of test cases told right, at the chosen rate, on average over the seeds."""
        return float(self._shares(kind, warming, depth).mean())

    def ahead(self, one: tuple[str, str], other: tuple[str, str], depth: int) -> bool:
        """Whether one kind and warm-up is ahead of another: by MARGIN on average, in every seed.

        So every seed of the one is right more often than every seed of the other.
        """
        mine, theirs = self._shares(*one, depth), self._shares(*other, depth)
        return bool(mine.min() > theirs.max() and mine.mean() - theirs.mean() >= MARGIN)

    def _shares(self, kind: str, warming: str, depth: int) -> Array:
        shares: Array = self.chosen(kind, warming).shares[self.depths.index(depth)]
        return shares


def start(
    kind: str, normalizer: Normalizer | str, depth: int, width: int, features: int, seed: int
) -> ResidualNetwork:
    """Return the network before training: its norm before or after each block, or none at all.

    All kinds have the same weights.
    """
    rng = np.random.default_rng(seed)
    place, chosen = (kind, normalizer) if kind in PLACES else ("pre", "standard")
    network = ResidualNetwork.random(chosen, place, depth, width, features, CLASSES, rng)
    if kind in PLACES:
        return network
    blocks = tuple(block._replace(norm=None) for block in network.parts.blocks)
    return ResidualNetwork(chosen, place, network.parts._replace(blocks=blocks))


@cache
def cases_of(seed: int) -> Cases:
    """Draw the cases for training, validation and test."""
    digits = DATASETS["digits"].load()
    order = np.random.default_rng(seed).permutation(digits.N)
    tested = round(TESTED * digits.N)
    held = round(TESTED * (digits.N - tested))
    test, validation, train = np.split(order, [tested, tested + held])
    raw = digits.raw[:, np.ptp(digits.raw[train], axis=0) > 0]
    X = (raw - raw[train].mean(axis=0)) / raw[train].std(axis=0)
    parts = [part[some] for some in (train, validation, test) for part in (X, digits.y)]
    return Cases(*parts)


def trained(
    kind: str,
    warming: str,
    *,
    depth: int,
    rate: float,
    seed: int,
    normalizer: Normalizer | str = METHOD,
    width: int = WIDTH,
    epochs: int = EPOCHS,
    progress: Report | Progress | None = None,
) -> tuple[ResidualHistory, Run | None]:
    """Train a network, and count the cases that it tells right; None where the run has no end."""
    cases = cases_of(seed)
    steps = epochs * -(-len(cases.X) // BATCH)
    history = train_residual(
        start(kind, normalizer, depth, width, cases.X.shape[1], seed),
        cases.X,
        cases.y,
        rate=WarmUp(rate, max(1, round(WARM * steps))) if warming == "with" else rate,
        epochs=epochs,
        batch_size=BATCH,
        seed=seed,
        progress=progress,
    )
    validation = history.right(cases.X_validation, cases.y_validation)
    test = history.right(cases.X_test, cases.y_test)
    if validation is None or test is None or not len(history.losses):
        return history, None
    loss = float(history.losses[-(steps // epochs) :].mean())
    return history, Run(validation, test, float(f"{loss:.4g}"))


@cache
def kept() -> Accuracy:
    """What was measured."""
    found = json.loads(files(__package__).joinpath(FILE).read_text("utf-8"))
    settings = found["settings"]
    runs = {
        (kind, warming): np.array(values, dtype=float)
        for kind, by_warming in found["runs"].items()
        for warming, values in by_warming.items()
    }
    return Accuracy(
        tuple(settings["depths"]), tuple(settings["rates"]), runs, settings["tested"], settings
    )
