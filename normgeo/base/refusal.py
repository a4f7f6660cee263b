"""The errors that are ours, each in one sentence: what has no answer, what could not be done."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self, final


@final
class Refusal(ValueError):  # noqa: N818 - what a program does, not what it got wrong
    """A request that has no answer, in one sentence: the rule, what arrived, the way out.

    A page, a command and a picture tell a refusal to whoever asked. Any other exception is a
    defect of the program, and is not caught as if it were one.

    Attributes:
        way_out: settings under which there is an answer, by name; a page offers them.

    """

    def __init__(self, sentence: str = "", /, **way_out: Any) -> None:
        super().__init__(sentence)
        self.way_out: Mapping[str, Any] = way_out

    def anew(self) -> Self:
        """Return the same refusal, raised nowhere: an error holds the frames that it passed."""
        return copy(self)


class Failure(RuntimeError):  # noqa: N818
    """Something that could not be done here, in one sentence: what is missing, or what failed.

    The request was right; the machine lacks something, or a check of the program's own alarms.

    """
