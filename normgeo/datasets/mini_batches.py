"""Mini-batches: the cases in a new order for each epoch, a batch of them for each step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arguments import seed_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.text import text


@final
@dataclass(frozen=True)
class MiniBatches:
    """A plan of batches of m cases out of N, drawn without replacement epoch by epoch.

    The last batch of an epoch has the remaining cases. If that is a single case and
    `single_allowed` is false, it is left out, a different one in each epoch.

    Attributes:
        cases: N. size: m, from 1 to N. single_allowed: whether a batch may be one case if m > 1.

    """

    cases: int
    size: int
    single_allowed: bool = True

    @classmethod
    def of(cls, cases: int, size: int, *, single_allowed: bool = True) -> MiniBatches:
        """Return the plan, after checking a batch size from any source.

        Raises:
            ValueError: m is not an integer from 1 to N.

        """
        training = text("the number of training cases")
        return cls(cases, whole_number("batch_size", size, 1, cases, training), single_allowed)

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """The start and the end of each batch of an epoch, in its order of the cases."""
        bounds = [(a, min(a + self.size, self.cases)) for a in range(0, self.cases, self.size)]
        return bounds[:-1] if self.leaves_one_out else bounds

    @property
    def leaves_one_out(self) -> bool:
        """Whether a case is left out of each epoch."""
        return self.size > 1 and self.cases % self.size == 1 and not self.single_allowed

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on the case that is left out, if one is."""
        if not self.leaves_one_out:
            return ()
        note = text(
            "{cases} cases make {batches} batches of {size} and one of a single case, which has no "
            "batch statistics: it is left out, another one in each epoch.",
            cases=self.cases,
            batches=len(self.bounds),
            size=self.size,
        )
        return (note,)

    def draw(self, seed: int) -> Iterator[Array]:
        """Yield the indices of the cases of each batch, without end."""
        rng = np.random.default_rng(seed_number(seed))
        bounds = self.bounds
        while True:
            order = rng.permutation(self.cases)
            for start, end in bounds:
                yield order[start:end]
