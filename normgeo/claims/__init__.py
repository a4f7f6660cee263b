"""Statements about normalization, each decided by a computation: `CLAIMS` and `audit`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from normgeo.base.progress import Progress, Report
from normgeo.base.refusal import Failure, Refusal
from normgeo.base.text import text
from normgeo.claims import (
    blocks,
    data_changes,
    decay,
    depth,
    doubling,
    equilibrium,
    formula,
    geometry,
    invariance,
    learning,
    limits,
    magnitude,
    practice,
    recurrence,
    robustness,
    symmetry,
    trained,
)
from normgeo.claims.claim import (
    DEPENDS,
    FAILS,
    FOLLOWS,
    HOLDS,
    HOLDS_IF,
    KINDS,
    LATER,
    PAPER_SAYS,
    PRACTICE,
    SIGNS,
    VERDICTS,
    Audited,
    Claim,
    Finding,
    Measured,
    sharing,
)
from normgeo.claims.examples import EXAMPLES, Example

__all__ = [
    "CLAIMS",
    "DEPENDS",
    "EXAMPLES",
    "FAILS",
    "FOLLOWS",
    "HOLDS",
    "HOLDS_IF",
    "KINDS",
    "LATER",
    "PAPER_SAYS",
    "PART",
    "PARTS",
    "PRACTICE",
    "SIGNS",
    "VERDICTS",
    "Audited",
    "Claim",
    "Example",
    "Finding",
    "Measured",
    "audit",
    "checked",
    "in_order",
]

PARTS: dict[str, tuple[Claim, ...]] = {
    text("One formula"): formula.CLAIMS,
    text("What may change"): (*invariance.CLAIMS, *data_changes.CLAIMS),
    text("Where that ends"): limits.CLAIMS,
    text("The Fisher matrix"): (*geometry.CLAIMS, *blocks.CLAIMS),
    text("What it does not see"): symmetry.CLAIMS,
    text("The norm as a learning rate"): (*doubling.CLAIMS, *learning.CLAIMS),
    text("Decay, and other optimizers"): (*equilibrium.CLAIMS, *decay.CLAIMS),
    text("The gains"): (*magnitude.CLAIMS, *robustness.CLAIMS),
    text("Batches and sequences"): (*practice.CLAIMS, *recurrence.CLAIMS, *trained.CLAIMS),
    text("Depth and images"): depth.CLAIMS,
    text("Tried small"): trained.SMALL,
}
"""The claims by subject."""

CLAIMS: dict[str, Claim] = {
    claim.key: claim
    for claim in sorted(
        (claim for part in PARTS.values() for claim in part),
        key=lambda claim: (KINDS.index(claim.kind), claim.place),
    )
}
"""Claims of the paper in the order of its sections, then consequences, later work and practice."""

PART: dict[str, str] = {claim.key: part for part, claims in PARTS.items() for claim in claims}
"""The part that contains each claim."""


def audit(
    progress: Report | Progress | None = None, claims: Sequence[Claim] | None = None
) -> Iterator[Audited]:
    """Check every claim on every example in turn, and yield it with its findings.

    Args:
        progress: called with (claims done, claims) after each; a stop ends the audit early.
        claims: the ones to check; None for all.

    Raises:
        Failure: a check that cannot be computed, with its name.

    """
    results: dict[Any, Any] = {}
    for claim in Progress.of(progress).over(tuple(CLAIMS.values() if claims is None else claims)):
        try:
            with sharing(results):
                finding, *others = map(claim.check, EXAMPLES)
        except Refusal as error:
            raise Failure(
                "The check of {key!r} could not be done: {error}", key=claim.key, error=error
            ) from error
        yield Audited(claim, finding, tuple(others))


def checked(settings: object, progress: Progress) -> tuple[Audited, ...]:
    """The whole audit, as a computation for workers of pages; settings have no effect.

    It gives each claim as soon as it is checked, those that train networks last.
    """
    slow = {claim.key for claim in (*trained.CLAIMS, *depth.CLAIMS)}
    found = []
    for one in audit(progress, sorted(CLAIMS.values(), key=lambda claim: claim.key in slow)):
        found.append(one)
        progress.give(one)
    return in_order(found)


def in_order(audited: Iterable[Audited]) -> tuple[Audited, ...]:
    """Claims that were checked in any order, in that of `CLAIMS`."""
    place = {key: n for n, key in enumerate(CLAIMS)}
    return tuple(sorted(audited, key=lambda one: place[one.claim.key]))
