"""Statements about normalization, each decided by a computation: `CLAIMS` and `audit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from normgeo.claims import geometry, invariance, learning, practice
from normgeo.claims.claim import FAILS, HOLDS, HOLDS_IF, Audited, Claim, Finding

__all__ = ["CLAIMS", "FAILS", "HOLDS", "HOLDS_IF", "Audited", "Claim", "Finding", "audit"]

CLAIMS: dict[str, Claim] = {
    claim.key: claim for part in (invariance, geometry, learning, practice) for claim in part.CLAIMS
}


def audit(callback: Callable[[int, int], Any] | None = None) -> Iterator[Audited]:
    """Check every claim, one after the other, and yield it with its finding.

    Args:
        callback: called with (claims done, claims) after each.

    """
    for done, claim in enumerate(CLAIMS.values(), start=1):
        yield Audited(claim, claim.check())
        if callback is not None:
            callback(done, len(CLAIMS))
