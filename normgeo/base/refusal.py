"""The error that is ours: an argument or a setting that has no answer, and why."""

from __future__ import annotations

from typing import final


@final
class Refusal(ValueError):  # noqa: N818 - what a program does, not what it got wrong
    """A request that has no answer, in one sentence: the rule, what arrived, the way out.

    A page, a command and a picture tell a refusal to whoever asked. Any other exception is a
    defect of the program, and is not caught as if it were one.

    """
