"""The description of a Fisher information, in the words beside its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from normgeo.base.text import text

COUPLINGS = {"exact": "", "paper": text(", Eq. 13")}
"""The included part of J: all of it, or each neuron's outputs by its own parameters only."""


@final
@dataclass(frozen=True)
class WhichFisher:
    """The kind of a Fisher information; as a string, the words beside its numbers.

    Attributes:
        coupling: of COUPLINGS. N: the number of cases. phi: φ, the dispersion.

    >>> print(WhichFisher("exact", 178, 0.5))
    expected Fisher information, per case; N = 178, dispersion φ = 0.5

    """

    coupling: str
    N: int
    phi: float

    @property
    def kind(self) -> str:
        """Its name, without the coupling and the scale."""
        return text("expected Fisher information, per case")

    def __str__(self) -> str:
        return str(
            text(
                "{kind}{coupling}; N = {N:,}, dispersion φ = {phi:g}",
                kind=self.kind,
                coupling=COUPLINGS[self.coupling],
                N=self.N,
                phi=self.phi,
            )
        )
