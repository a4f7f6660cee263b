"""Every experiment at once: how it learns with and without layer norm, and what that decides."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from normgeo.base.numbers import number
from normgeo.base.progress import Progress
from normgeo.base.text import text
from normgeo.experiments.results import IN_WORDS, RULE, STATEMENTS, Result, load, shares, verdict
from normgeo.pictures.captions import listed
from normgeo.pictures.experiments.about import ABOUT, NAMES
from normgeo.pictures.picture import Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

COUNTED = {
    "holds": (text("1 holds"), text("{n} hold")),
    "fails": (text("1 fails"), text("{n} fail")),
    "not at this size": (text("1 is open"), text("{n} are open")),
}
"""What is said of one verdict and of several."""


VERDICTS = {
    "holds": text("Holds"),
    "fails": text("Fails"),
    "not at this size": text("Open"),
}


class Experiment(NamedTuple):
    """A result, its verdict, and the shares of the steps that decide it, one for each seed."""

    result: Result
    verdict: str
    shares: tuple[float, ...]

    @property
    def evidence(self) -> str:
        """The numbers that the rule looks at, in a sentence."""
        words = {
            "fast": IN_WORDS[self.result.statement.fast],
            "slow": NAMES[self.result.statement.slow],
        }
        if not np.isfinite(self.shares).any():
            return text("{fast} never reaches the best result {slow}.", **words)
        return text(
            "{fast} reaches the best result {slow} after this share of the steps, seed by seed: "
            "{shares}.",
            shares=self._listed,
            **words,
        )

    @property
    def told(self) -> str:
        """The verdict, and of one that is open what the seeds say."""
        told = VERDICTS[self.verdict]
        if self.verdict != "not at this size":
            return told
        slowest = f"{math.ceil(100 * max(self.shares))}%" if self.faster else text("mixed")
        return text("{told}: {seeds}", told=told, seeds=slowest)

    @property
    def faster(self) -> bool:
        """Whether every seed takes fewer steps."""
        return max(self.shares) < 1

    @property
    def short(self) -> str:
        """The same in few words: the least and the largest share, and whether one has none."""
        reached = [f"{100 * one:.0f}" for one in sorted(self.shares) if np.isfinite(one)]
        if not reached:
            return text("never")
        low, high = reached[0], reached[-1]
        told = text("{low} to {high}%", low=low, high=high) if low != high else f"{high}%"
        return told if len(reached) == len(self.shares) else text("{told} or never", told=told)

    @property
    def _listed(self) -> str:
        return listed(f"{one:.0%}" if np.isfinite(one) else text("never") for one in self.shares)


class Multiples(NamedTuple):
    """The experiments, in the order of the paper."""

    experiments: tuple[Experiment, ...]

    @property
    def headline(self) -> str:
        """How many statements hold."""
        verdicts = [one.verdict for one in self.experiments]
        counts = {verdict: verdicts.count(verdict) for verdict in COUNTED if verdict in verdicts}
        told = [text(COUNTED[verdict][n > 1], n=n) for verdict, n in counts.items()]
        return text(
            "Sometimes: of {all} claims, in small runs, {told}.",
            all=len(verdicts),
            told=listed(told),
        )

    @property
    def about(self) -> str:
        """How the methods were compared."""
        result = self.experiments[0].result
        return text(
            "Each method is at the best of {rates} learning rates or more; mean and band of "
            "{seeds} seeds.",
            rates=min(
                len(method.rates)
                for one in self.experiments
                for method in one.result.methods.values()
            ),
            seeds=len(result.seeds),
        )


def compute(settings: Settings, progress: Progress) -> Multiples:
    """Read the results that ship."""
    results = [load(name) for name in STATEMENTS]
    return Multiples(tuple(Experiment(one, verdict(one), shares(one)) for one in results))


def _table(result: Multiples) -> Table:
    """A row for each point of each curve."""
    rows = [
        (one.name, str(NAMES[method]), learned.rate, seed, step, figure)
        for one, _, _ in result.experiments
        for method, learned in one.methods.items()
        for seed, curve in zip(one.seeds, learned.validation, strict=True)
        for step, figure in zip(one.steps, curve, strict=True)
    ]
    columns = ("experiment", "method", "rate", "seed", "step", "validation figure")
    commands = [one.result.command for one in result.experiments]
    return Table(columns, tuple(rows), STUDY.title, notes=(result.about, RULE, *commands))


def _observed(result: Multiples) -> str:
    told = []
    for one in result.experiments:
        means = listed(
            f"{number(float(np.mean(learned.test)), 3)} {NAMES[method]}"
            for method, learned in one.result.methods.items()
        )
        told.append(
            text(
                "{title}: {statement} {verdict}: {evidence} On the test set, in {unit}: {means}.",
                title=ABOUT[one.result.name].title,
                statement=one.result.statement.words,
                verdict=VERDICTS[one.verdict],
                evidence=one.evidence,
                unit=one.result.unit,
                means=means,
            )
        )
    return " ".join(map(str, [result.headline, *told]))


STUDY = Study(
    name="experiments",
    title=text("Small experiments, with and without layer norm"),
    alt=text(
        "A row for each claim with a dot for each seed, or for several at one place with their "
        "number: the steps of one method to the best of the other, as a share of its own; and "
        "whether the claim holds. Below, a pair of axes for each experiment: the figure on "
        "held-out cases against the steps of training, a gray line without a norm, a blue one with "
        "batch norm, broken where it is everywhere, a green one with layer norm, each on a band "
        "over the seeds."
    ),
    uses=(),
    compute=compute,
    table=_table,
    observed=_observed,
    source=text("section 6"),
)
