"""What a checked statement is: the sentence, where it stands, what is computed, the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

HOLDS, HOLDS_IF, FAILS = "holds", "holds if", "does not hold"


@final
@dataclass(frozen=True)
class Finding:
    """What a check computed.

    Attributes:
        everywhere: whether the statement is true as it stands.
        restricted: whether it is true under the claim's condition; the same where it has none.
        measured: the numbers it rests on, by name.

    """

    everywhere: bool
    restricted: bool
    measured: Mapping[str, float]

    @property
    def verdict(self) -> str:
        """`HOLDS`, `HOLDS_IF` (only under the condition) or `FAILS`; read off the two."""
        return HOLDS if self.everywhere else HOLDS_IF if self.restricted else FAILS


@final
@dataclass(frozen=True)
class Claim:
    """A statement about normalization, and the computation that decides it.

    Attributes:
        key: its name. statement: in our words. source: where it stands.
        check: computes the finding; takes nothing, so that it can be run by anyone.
        expected: the verdict that this version of the computation is known to give; a run that
            gives another one is an alarm, not an answer.
        condition: what the statement needs where it "holds if". remark: what the numbers say.
        page: the address of the page that shows it.

    """

    key: str
    statement: str
    source: str
    check: Callable[[], Finding]
    expected: str
    page: str
    condition: str = ""
    remark: str = ""


@final
@dataclass(frozen=True)
class Audited:
    """A claim with its finding."""

    claim: Claim
    finding: Finding

    @property
    def as_expected(self) -> bool:
        """Whether the computed verdict is the known one."""
        return self.finding.verdict == self.claim.expected


def plain(holds: bool, **measured: float) -> Finding:
    """Return the finding of a statement without a condition."""
    return Finding(holds, holds, measured)
