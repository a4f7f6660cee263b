"""Which Fisher information a number is of, in the words that stand beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from normgeo.base.text import text

COUPLINGS = {"exact": text("exact coupling"), "paper": text("Eq. 13")}
"""What of J is in it: all of it, or each neuron's outputs by its own parameters only."""


@final
@dataclass(frozen=True)
class WhichFisher:
    """Which Fisher information a number is of; as a string, the words that stand beside it.

    Attributes:
        coupling: of COUPLINGS. N: the number of cases. phi: φ, the dispersion.

    >>> print(WhichFisher("exact", 178, 0.5))
    expected Fisher information, per case, exact coupling; N = 178, φ = 0.5

    """

    coupling: str
    N: int
    phi: float

    @property
    def kind(self) -> str:
        """What it is, without its coupling and its scale."""
        return text("expected Fisher information, per case")

    def __str__(self) -> str:
        return str(
            text(
                "{kind}, {coupling}; N = {N:,}, φ = {phi:g}",
                kind=self.kind,
                coupling=COUPLINGS[self.coupling],
                N=self.N,
                phi=self.phi,
            )
        )
