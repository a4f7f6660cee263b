"""Whether a network ignores a change: three words, the share of its outputs that moves, and ε."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log2, sqrt
from typing import final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.text import text
from normgeo.measured.running import Changes, Running, length, moved

WORDS = {
    "✓": text("ignored"),
    "≈": text("ignored but for ε"),
    "✗": text("not ignored"),
    "?": text("too little to tell from rounding"),
}
"""Signs → what they stand for."""

Make = Callable[[Mapping[str, Array], int], Changes]
"""(Tensors to change, number of the draw) → the changed tensors."""

DRAWS = 2
"""How often each change is drawn: factors on both sides of 1, or two shifts."""

FEW, MANY = 8.0, 16.0
"""Multiples of the rounding: a change up to the first is ignored, above the second it is not."""

CLEAR = 64.0
"""Fractions of the influence: an ignored change moves less than one of them."""

SLIGHT = 0.01
"""A fraction of the influence: only an ε can move less."""

GROWN = 2.0**8
"""The factor by which weights grow in the search for an ε."""


@final
@dataclass(frozen=True)
class Verdict:
    """How a network responds to a change.

    Attributes:
        sign: ✓ ignored, only rounding moves; ≈ ignored up to ε, moves less by s² as weights grow
            by s; ✗ not ignored; ? rounding may explain the move, or may not.
        moved: ‖change of the outputs‖/‖outputs‖, for the first random change that moves them,
            as for δ = 2.

    """

    sign: str
    moved: float

    @property
    def word(self) -> str:
        """The sign in words."""
        return WORDS[self.sign]

    @property
    def ignored(self) -> bool:
        """Whether it is ignored, at least up to ε."""
        return self.sign in "✓≈"


@final
class Judge:
    """Measures the effect of changes on a network, and how much of it is rounding.

    Attributes:
        rounding: ‖error‖/‖outputs‖ of the network's own arithmetic.

    The changes of the outputs at θ + ηr and at θ + 2ηr are compared for η = √u, where u is the unit
    roundoff. If the second is not twice the first, the rest is rounding, or curvature of that size.
    So a network that lowers its precision inside is noticed.
    """

    def __init__(self, running: Running, seed: int) -> None:
        self.running, self._seed = running, seed
        self._bases: dict[tuple[tuple[tuple[str, int], ...], float], Array] = {}
        step = sqrt(running.unit)
        once, twice = (running.outputs(self._jittered(k * step)) - running.base for k in (1, 2))
        error = length(twice - 2 * once) / length(running.base)
        self.rounding = max(4 * running.unit, running.disagreement, error)

    def _jittered(self, step: float) -> Changes:
        return {
            name: tensor.values * (1 + step * self.draw(name).standard_normal(tensor.values.shape))
            for name, tensor in self.running.tensors.items()
        }

    def draw(self, *key: object) -> np.random.Generator:
        """Return a generator that gives the same numbers for the same key."""
        return np.random.default_rng([self._seed, *"/".join(map(str, key)).encode()])

    @property
    def few(self) -> float:
        """The share of the outputs that rounding may move."""
        return FEW * self.rounding

    @property
    def many(self) -> float:
        """The share of the outputs that rounding cannot move."""
        return MANY * self.rounding

    def forget(self) -> None:
        """Release the outputs that are kept for one tensor."""
        self._bases.clear()

    def moved(
        self, make: Make, draw: int = 0, grown: Mapping[str, int] | None = None, s: float = 1.0
    ) -> float:
        """Return the share of the outputs that a change moves, once weights have grown by s."""
        tensors, powers = self.running.tensors, dict(grown or {}) if s != 1 else {}
        values = {
            name: tensor.values * s ** powers[name] if name in powers else tensor.values
            for name, tensor in tensors.items()
        }
        start = {name: values[name] for name in powers}
        changed = dict(make(values, draw))
        return moved(self._base(powers, start, s), self.running.outputs({**start, **changed}))

    def _base(self, powers: Mapping[str, int], start: Changes, s: float) -> Array:
        if not powers:
            return self.running.base
        key = tuple(sorted(powers.items())), s
        if key not in self._bases:
            self._bases[key] = self.running.outputs(start)
        return self._bases[key]

    def judge(
        self,
        make: Make,
        grown: Mapping[str, int] | None = None,
        influence: float = 1.0,
    ) -> Verdict:
        """Return the verdict on a change.

        Args:
            make: the change. grown: tensors that grow in the search for an ε, and by which power
                of s; none if no ε can matter. influence: the largest share that they move; a
                change that moves a quarter of it is not searched for an ε.

        """
        influence = min(influence, 1.0)
        most = 0.0
        for draw in range(DRAWS):
            most = max(most, self.moved(make, draw))
            if most > self.many:
                break
        if grown and 1024 * self.rounding < influence:
            if most <= self.few:
                small = self.moved(make, 0, grown, 1 / GROWN)
                if small > self.many and self._limit(make, grown, 1 / GROWN, small, influence):
                    return Verdict("≈", most)
            elif most <= influence / 4:
                large = self.moved(make, 0, grown, GROWN)
                if large <= max(4 * most / GROWN, self.few):
                    start = (GROWN, large) if large > self.many else (1.0, most)
                    limit = self._limit(make, grown, *start, influence)
                    small = most < SLIGHT * influence
                    if limit and (small or self._from_here(make, grown, most, limit)):
                        return Verdict("≈", most)
        return self.plain(most, influence)

    def plain(self, share: float, influence: float = inf) -> Verdict:
        """Return the verdict on a share of the outputs, if there is no ε.

        If rounding is as large as the move of a change that is not ignored, a fraction of the
        influence, there is no verdict.
        """
        if share > self.many:
            return Verdict("✗", share)
        return Verdict("✓" if share <= min(self.few, influence / CLEAR) else "?", share)

    def _from_here(self, make: Make, grown: Mapping[str, int], share: float, limit: float) -> bool:
        """Whether a share follows limit/(s² + e) from s = 1 on, where e may be ε over a variance.

        If not, it falls later for another reason: an activation saturates, or a sum has a part
        that does not grow.
        """
        ratio = limit / share - 1
        if not -0.2 < ratio < 1:
            return False
        return bool(abs(self.moved(make, 0, grown, 2.0) * (4 + ratio) / limit - 1) < 0.15)

    def _limit(
        self, make: Make, grown: Mapping[str, int], s: float, share: float, influence: float
    ) -> float:
        """Return the limit of s² × the share, or 0 if the share does not fall by s².

        The search goes where the share is small, so that the law of small ε holds, and yet far
        above rounding; there it must fall to a quarter whenever the weights double.
        """
        aim = sqrt(0.02 * influence * 32 * self.many)
        for _ in range(2):
            if not 0 < share < inf:
                return 0.0
            s = 2.0 ** round(log2(s * sqrt(share / aim)))
            shares = [self.moved(make, 0, grown, k * s) for k in (1, 2, 4)]
            if min(shares) > self.few and all(3.2 < a / b < 4.8 for a, b in pairwise(shares)):
                return 16 * s**2 * shares[-1]
            if shares[0] < 0.1 * influence:
                return 0.0
            share = shares[0]
        return 0.0
