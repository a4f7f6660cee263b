"""Mini-batches: the cases in a new order for each epoch, a batch of them for each step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from normgeo.base.arrays import Array


@final
@dataclass(frozen=True)
class MiniBatches:
    """A plan of batches of m cases out of N, drawn without replacement epoch by epoch.

    The last batch of an epoch has what is left over. Where that is a single case and
    `single_allowed` is false, it is left out, another one in each epoch.

    Attributes:
        cases: N. size: m, from 1 to N. single_allowed: whether a batch may be one case where m > 1.

    Raises:
        ValueError: m is not a whole number from 1 to N.

    """

    cases: int
    size: int
    single_allowed: bool = True

    def __post_init__(self) -> None:
        if not (1 <= self.size <= self.cases and float(self.size).is_integer()):
            raise ValueError(
                f"`batch_size` must be a whole number from 1 to {self.cases}, the number of "
                f"training cases; got {self.size!r}."
            )
        object.__setattr__(self, "size", int(self.size))

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """Where the batches of an epoch start and end in its order of the cases."""
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
        note = (
            f"{self.cases} cases make {len(self.bounds)} batches of {self.size} and one of a "
            "single case, which has no batch statistics: it is left out, another one in each epoch."
        )
        return (note,)

    def draw(self, seed: int) -> Iterator[Array]:
        """Yield the indices of the cases of one batch after the other, without end."""
        rng = np.random.default_rng(seed)
        bounds = self.bounds
        while True:
            order = rng.permutation(self.cases)
            for start, end in bounds:
                yield order[start:end]
