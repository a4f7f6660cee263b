"""Statistics of batch norm at each time step, for test time.

    μ_t ← (1 − ρ) μ_t + ρ μ_t,B,    v_t ← (1 − ρ) v_t + ρ v_t,B S/(S − 1)

Each step has its own statistics, over the batches that reach it. Sequences longer than those in
training have steps without statistics: they are refused, or use those of the last step.
Source: Cooijmans et al., Recurrent batch normalization, 2017, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from normgeo.base.arguments import word_of
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.models.running_averages import LEAST_SHARE
from normgeo.sequences.stream import Held, Stream

BEYOND = ("refuse", "last")
"""What later steps use: no statistics, which is refused, or those of the last step of training."""


@final
@dataclass(frozen=True, eq=False)
class StepStatistics:
    """Constants instead of the statistics that the sequences of a batch share, at each step.

    Attributes:
        products: of each product in the order of the cell, then of the memory.
        batches: the number of batches averaged at each step, (T,).

    """

    products: tuple[Held, ...]
    batches: Array

    def require_fits(self, streams: Sequence[Stream]) -> None:
        """Raise if these statistics do not fit the products."""
        fits = len(streams) == len(self.products) and all(
            _shape(held.mean) == (stream.shape if stream.center.shared_by_cases else None)
            and _shape(held.variance) == (stream.shape if stream.scale.shared_by_cases else None)
            for held, stream in zip(self.products, streams, strict=True)
        )
        if not fits:
            raise Refusal(
                "`statistics` must be of a layer of the same kind; got those of another one, "
                "or of no batch at all."
            )

    @property
    def steps(self) -> int:
        """T, the number of steps with their own statistics."""
        return len(self.batches)

    def updated(self, batch: StepStatistics, sequences: int) -> StepStatistics:
        """Return the averages updated with one more batch; a longer batch adds its steps."""
        S, T = sequences, max(batch.steps, self.steps)
        reached = np.arange(T) < batch.steps
        share = np.maximum(LEAST_SHARE, 1 / (_to(self.batches, T) + 1))
        share = np.where(reached, share, 0.0)[:, None, None, None]
        products = []
        for index, own in enumerate(batch.products):
            old = self.products[index] if self.products else own
            unbiased = 1.0 if own.mean is None else S / (S - 1)
            variance = None if own.variance is None else own.variance * unbiased
            products.append(
                Held(_mixed(old.mean, own.mean, share), _mixed(old.variance, variance, share))
            )
        return StepStatistics(tuple(products), _to(self.batches, T) + reached)

    def covering(self, steps: int, beyond: str) -> StepStatistics:
        """Return these statistics for a number of steps; `beyond` is one of BEYOND.

        Raises:
            ValueError: more steps than have statistics, if `beyond` refuses these.

        """
        word_of("beyond", beyond, BEYOND)
        if steps <= self.steps or not any(each is not None for p in self.products for each in p):
            return self
        if beyond == "refuse":
            raise Refusal(
                "Batch norm has statistics of the {seen} steps of training, and none of the "
                "steps after them; got sequences of {steps} steps. Use shorter sequences, or "
                "beyond='last', the statistics of the last step.",
                seen=self.steps,
                steps=steps,
            )
        at = np.minimum(np.arange(steps), self.steps - 1)
        products = tuple(
            Held(*(None if each is None else each[at] for each in held)) for held in self.products
        )
        return replace(self, products=products, batches=self.batches[at])


def holding(
    stream: Stream, statistics: StepStatistics | None, index: int, t: int | slice
) -> Stream:
    """Return a product with the constants of some steps; unchanged without statistics."""
    return stream if statistics is None else stream.holding(statistics.products[index].at(t))


MEMORY = -1
"""The index of the memory among the products: the last."""

NOTHING_SEEN = StepStatistics((), np.zeros(0, dtype=int))
"""Before the first batch."""


def _shape(values: Array | None) -> tuple[int, ...] | None:
    return None if values is None else values.shape[1:]


def _to(batches: Array, steps: int) -> Array:
    return np.pad(batches, (0, steps - len(batches)))


def _mixed(old: Array | None, new: Array | None, share: Array) -> Array | None:
    """(1 − ρ) old + ρ new at each step; where only one of the two has a step, its value."""
    if old is None or new is None:
        return new
    T = len(share)
    longest = [
        np.concatenate([each, other[len(each) :]]) for each, other in ((old, new), (new, old))
    ]
    before, after = (each[:T] for each in longest)
    mixed: Array = before + share * (after - before)
    return mixed
