"""The errors that are ours, each in one sentence: what has no answer, what could not be done."""

from __future__ import annotations

from typing import final


@final
class Refusal(ValueError):  # noqa: N818 - what a program does, not what it got wrong
    """A request that has no answer, in one sentence: the rule, what arrived, the way out.

    A page, a command and a picture tell a refusal to whoever asked. Any other exception is a
    defect of the program, and is not caught as if it were one.

    """


class Failure(RuntimeError):  # noqa: N818
    """Something that could not be done here, in one sentence: what is missing, or what failed.

    The request was right; the machine lacks something, or a check of the program's own alarms.

    """
