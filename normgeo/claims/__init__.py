"""Statements about normalization, each decided by a computation: `CLAIMS` and `audit`."""

from __future__ import annotations

from collections.abc import Iterator

from normgeo.base.progress import Progress, Report
from normgeo.claims import (
    decay,
    formula,
    geometry,
    invariance,
    learning,
    limits,
    magnitude,
    practice,
    symmetry,
)
from normgeo.claims.claim import FAILS, HOLDS, HOLDS_IF, SIGNS, Audited, Claim, Finding, Measured

__all__ = [
    "CLAIMS",
    "FAILS",
    "HOLDS",
    "HOLDS_IF",
    "PART",
    "PARTS",
    "SIGNS",
    "Audited",
    "Claim",
    "Finding",
    "Measured",
    "audit",
]

PARTS: dict[str, tuple[Claim, ...]] = {
    "One formula": formula.CLAIMS,
    "What may change": invariance.CLAIMS,
    "Where that ends": limits.CLAIMS,
    "The Fisher matrix": geometry.CLAIMS,
    "What it does not see": symmetry.CLAIMS,
    "The norm as a learning rate": learning.CLAIMS,
    "Decay, and other optimizers": decay.CLAIMS,
    "The gains": magnitude.CLAIMS,
    "Batches and sequences": practice.CLAIMS,
}
"""The claims under what they speak of."""

CLAIMS: dict[str, Claim] = {claim.key: claim for part in PARTS.values() for claim in part}

PART: dict[str, str] = {claim.key: part for part, claims in PARTS.items() for claim in claims}
"""The part that each claim is in."""


def audit(progress: Report | Progress | None = None) -> Iterator[Audited]:
    """Check every claim, one after the other, and yield it with its finding.

    Args:
        progress: told (claims done, claims) after each; a stop ends the audit there.

    Raises:
        RuntimeError: a check that cannot be computed, with its name.

    """
    for claim in Progress.of(progress).over(tuple(CLAIMS.values())):
        try:
            finding = claim.check()
        except (ValueError, TypeError, ArithmeticError) as error:
            raise RuntimeError(f"The check of {claim.key!r} could not be done: {error}") from error
        yield Audited(claim, finding)
