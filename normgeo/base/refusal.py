"""The library's own errors, each in one sentence: requests without an answer, and failures."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Self, final

from normgeo.base.text import text

MALFORMED = ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError
"""What taking a file's content apart may raise, where it is not as this program writes it."""


@final
class Refusal(ValueError):  # noqa: N818 - what a program does, not what it got wrong
    """A request without an answer, in one sentence: the rule, what arrived, the way out.

    Pages, commands and pictures show a refusal to the user. Any other exception is a defect of the
    program, and is not caught. The values fill in the {placeholders} of the sentence, as those of
    `text` do.

    >>> Refusal("`steps` must be at least 1; got {n}.", n=0)
    Refusal('`steps` must be at least 1; got 0.')

    Attributes:
        way_out: settings that do have an answer, by name; a page offers them.

    """

    def __init__(
        self, sentence: str = "", /, *, way_out: Mapping[str, Any] | None = None, **values: Any
    ) -> None:
        super().__init__(text(sentence, **values))
        self.way_out: Mapping[str, Any] = way_out or {}

    def anew(self) -> Self:
        """Return an equal refusal that was never raised: a raised one keeps its stack alive."""
        return copy(self)


class Failure(RuntimeError):  # noqa: N818
    """Something that could not be done here, in one sentence: what is missing, or what failed.

    The request was valid; the machine lacks something, or one of the program's own checks failed.
    The values fill in the {placeholders} of the sentence.
    """

    def __init__(self, sentence: str = "", /, **values: Any) -> None:
        super().__init__(text(sentence, **values))
