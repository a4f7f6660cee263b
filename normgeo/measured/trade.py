"""Changes that a network ignores only together: their tensors and powers of δ."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import final

from normgeo.base.text import text
from normgeo.measured.judging import Verdict

PARTS = {
    "all": text("all of {name!s}"),
    "rows": text("rows of {name!s}"),
    "columns": text("columns of {name!s}"),
    "entries": text("{name!s}"),
}


@final
@dataclass(frozen=True)
class Part:
    """What a trade does to one tensor: all of it, or its rows or columns, × δ to a power.

    Attributes:
        name: of the tensor. along: a key of PARTS. power: of δ; 0 for what is shifted.

    """

    name: str
    along: str
    power: int

    def __str__(self) -> str:
        return text(PARTS[self.along], name=self.name)


@final
@dataclass(frozen=True)
class Trade:
    """A change of several tensors that the network ignores together, but not of fewer.

    Attributes:
        parts: what it changes. verdict: on all of them at once. count: how many factors it has,
            one for each row or column; 1 where tensors change as a whole.
        shift: whether a vector is shifted, and biases behind it compensate.

    """

    parts: tuple[Part, ...]
    verdict: Verdict
    count: int = 1
    shift: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The tensors that it changes."""
        return tuple(part.name for part in self.parts)

    @property
    def is_joint(self) -> bool:
        """Whether all are multiplied alike: they are one block."""
        return not self.shift and all(part.power > 0 for part in self.parts)

    def __str__(self) -> str:
        """What it does: "rows of a × δ, columns of b ÷ δ"."""
        if self.shift:
            first, *rest = self.parts
            return text(
                "{first} + c, and {rest} take it off",
                first=first,
                rest=", ".join(str(part) for part in rest),
            )
        return ", ".join(
            text("{parts} {factor}", parts=", ".join(map(str, group)), factor=_factor(power))
            for power, group in groupby(
                sorted(self.parts, key=lambda part: -part.power), key=lambda part: part.power
            )
        )


def _factor(power: int) -> str:
    raised = "" if abs(power) == 1 else str(abs(power)).translate(str.maketrans("234", "²³⁴"))
    return f"{'×' if power > 0 else '÷'} δ{raised}"
