"""The audit in words and numbers: a listing for a terminal, a table for papers, records for code.

The signs are those of all verdicts: ✓ holds, ≈ holds if …, ✗ does not hold; ? stands where seeds or
sizes disagree.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from normgeo.base.text import text
from normgeo.claims import (
    DEPENDS,
    EXAMPLES,
    FAILS,
    FOLLOWS,
    HOLDS,
    HOLDS_IF,
    LATER,
    PAPER_SAYS,
    PART,
    PRACTICE,
    SIGNS,
    VERDICTS,
    Audited,
    Measured,
)
from normgeo.tables import formats
from normgeo.tables.table import Table

WORDS = {
    HOLDS: text("holds"),
    HOLDS_IF: text("holds if …"),
    FAILS: text("does not hold"),
    DEPENDS: text("undecided"),
}
KIND_TITLES = {
    PAPER_SAYS: text("The paper says"),
    FOLLOWS: text("Follows from the paper, or seems to"),
    LATER: text("Later work says"),
    PRACTICE: text("Practice"),
}
INDENT = 17
DIGITS = 3  # digits of a measured value
EXAMPLES_TOLD = text(
    "Each is computed on {n} examples, with {seeds} seeds and {sizes} sizes. The numbers are from "
    "the first one; parentheses give the range over all.",
    n=len(EXAMPLES),
    seeds=len({example.seed for example in EXAMPLES}),
    sizes=len({example.cases for example in EXAMPLES}),
)


def listing(audited: Sequence[Audited], room: int) -> str:
    """Return the audit as lines of at most `room` columns: first where the paper is not exact.

    All claims follow by kind, in the order of the paper, with a summary at the end.
    """
    lines = _wrapped(headline(audited), room, indent=0)
    for one in inexact(audited):
        lines += _wrapped(str(text(one.claim.statement)), room, f"{SIGNS[one.verdict]} ", 2)
        lines += [line for told in repaired(one) for line in _wrapped(told, room, indent=2)]
    lines.append("")
    for kind, members in by_kind(audited):
        lines += [kind, "=" * len(kind), ""]
        for one in members:
            head = f"{SIGNS[one.verdict]} {WORDS[one.verdict]}".ljust(INDENT)
            lines += _wrapped(str(text(one.claim.statement)), room, head)
            for sentence in (*remarks(one), str(text(one.claim.source)), *_quantities(one)):
                lines += _wrapped(sentence, room)
            lines.append("")
    for sentence in (EXAMPLES_TOLD, summary(audited)):
        lines += _wrapped(str(sentence), room, indent=0)
    return "\n".join(lines) + "\n"


def audit_table(audited: Sequence[Audited]) -> Table:
    """Return a row for each claim, for people: its sign, statement, source and rounded numbers."""
    return Table(
        ("", text("kind"), text("statement"), text("source"), text("measured")),
        tuple(
            (
                SIGNS[one.verdict],
                KIND_TITLES[one.claim.kind],
                " ".join((str(text(one.claim.statement)), *remarks(one))),
                text(one.claim.source),
                "; ".join(_quantities(one)),
            )
            for one in audited
        ),
        text("The paper, checked"),
        notes=(summary(audited), EXAMPLES_TOLD),
    )


def audit_records(audited: Sequence[Audited]) -> Table:
    """Return a record for each claim, for programs: everything, with all digits."""
    return Table(
        (
            "key",
            "kind",
            "part",
            "statement",
            "source",
            "verdict",
            "expected",
            "as_expected",
            "condition",
            "repair",
            "remark",
            "page",
            "measured",
            "ranges",
        ),
        tuple(
            (
                c.key,
                c.kind,
                PART[c.key],
                c.statement,
                c.source,
                one.verdict,
                c.expected,
                one.as_expected,
                c.condition,
                c.repair,
                c.remark,
                c.page,
                Quantities({m: m.value for m in one.finding.measured}),
                Quantities({m: found for m in one.finding.measured if (found := one.range(m))}),
            )
            for one in audited
            for c in (one.claim,)
        ),
        text("The paper, checked"),
    )


class Quantities(dict[str, Any]):
    """Measured values by their labels and units: as JSON, or as "a = 1; b = 2"."""

    def __init__(self, known: Mapping[Measured, float | tuple[float, float]]) -> None:
        for m, value in known.items():
            unit = f" ({m.unit})" if m.unit else ""
            self[m.label + unit] = value if np.isfinite(value).all() else None

    def __str__(self) -> str:
        return "; ".join(f"{label} = {_plain(value)}" for label, value in self.items())


def by_kind(audited: Iterable[Audited]) -> Iterator[tuple[str, list[Audited]]]:
    """Return the claims under the title of their kind."""
    for kind, members in groupby(audited, key=lambda one: one.claim.kind):
        yield str(text(KIND_TITLES[kind])), list(members)


def inexact(audited: Iterable[Audited]) -> list[Audited]:
    """Return the paper's statements that do not hold as they stand."""
    return [one for one in audited if one.claim.kind == PAPER_SAYS and one.verdict == FAILS]


def headline(audited: Sequence[Audited]) -> str:
    """Return how many statements of the paper hold, always or not, in a sentence."""
    verdicts = [one.verdict for one in audited if one.claim.kind == PAPER_SAYS]
    return text(
        "{all} statements of the paper: {exact} exact, {some} under a condition, {wrong} not.",
        all=len(verdicts),
        exact=verdicts.count(HOLDS),
        some=verdicts.count(HOLDS_IF),
        wrong=verdicts.count(FAILS),
    )


KEY = text(
    "Cross: wrong as written. Green: what is true. Metric: how strongly outputs react (Fisher). "
    "Gain: learned scale."
)


def others(audited: Sequence[Audited]) -> str:
    """Return what stands beside a condition, and how many statements are not of the paper."""
    return text(
        "≈: true if the blue holds. {more} more, not in the paper, are checked too.",
        more=sum(one.claim.kind != PAPER_SAYS for one in audited),
    )


def conditional(one: Audited) -> tuple[str, ...]:
    """Return the condition on which a statement holds, in a sentence, if there is one."""
    if one.verdict == HOLDS_IF and one.claim.condition:
        return (str(text("If {condition}.", condition=text(one.claim.condition))),)
    return ()


def repaired(one: Audited) -> tuple[str, ...]:
    """Return of what a statement that does not hold is true, in a sentence, if that is known."""
    if one.verdict == FAILS and one.claim.repair:
        return (str(text("True {repair}.", repair=text(one.claim.repair))),)
    return ()


def remarks(one: Audited) -> tuple[str, ...]:
    """Return the condition or the repair of a verdict, the claim's remark, and an alarm."""
    claim = one.claim
    sentences: list[str] = [text(claim.remark)] if claim.remark else []
    sentences = [*conditional(one), *repaired(one), *sentences]
    if one.verdict == DEPENDS:
        sentences.append(
            text("The verdict changes with the seed or the size, so there is no verdict.")
        )
    if one.verdict != claim.expected:
        sentences.append(text("Not as expected: {verdict}.", verdict=WORDS[claim.expected]))
    elif not one.as_expected:
        sentences.append(text("Not as expected: the repair does not help."))
    return tuple(map(str, sentences))


def by_quantity(measured: Iterable[Measured]) -> Iterator[tuple[str, list[Measured]]]:
    """Return the values by the name of the quantity, with the unit in parentheses."""
    for (quantity, unit), values in groupby(measured, key=lambda m: (m.quantity, m.unit)):
        yield f"{text(quantity)} ({text(unit)})" if unit else str(text(quantity)), list(values)


def counts(audited: Iterable[Audited]) -> Counter[str]:
    """Return how many claims have each verdict."""
    found = Counter(one.verdict for one in audited)
    return Counter({verdict: found[verdict] for verdict in VERDICTS})


def summary(audited: Sequence[Audited]) -> str:
    """Return how many statements hold, in a sentence."""
    found = counts(audited)
    sentence = text(
        "Of {all} statements {holds} hold (✓), {holds_if} hold on a condition (≈) and {fails} do "
        "not hold (✗).",
        all=len(audited),
        holds=found[HOLDS],
        holds_if=found[HOLDS_IF],
        fails=found[FAILS],
    )
    if not (undecided := len(audited) - found.total()):
        return sentence
    return text(
        "{sentence} Of {n} the verdict changes with the seed or the size (?).",
        sentence=sentence,
        n=undecided,
    )


def name(measured: Measured) -> str:
    """Return the label of a value: the quantity, apart from the value's digits."""
    of = str(text(measured.of))
    if not of:
        return ""
    return f"{of}: " if of[-1].isdigit() else f"{of} "


def shown(value: float | bool) -> str:
    """Return a measured value as people read it."""
    return formats.shown(value, DIGITS)


def spread(one: Audited, measured: Measured) -> str:
    """Return the range of a value over all examples: " (1 to 2)", "" for a single value."""
    least, most = map(shown, one.range(measured) or (0, 0))
    between = text("{least} to {most}", least=least, most=most)
    return "" if least == most else f" ({between})"


def _quantities(one: Audited) -> list[str]:
    return [
        f"{quantity}: " + ", ".join(name(m) + shown(m.value) + spread(one, m) for m in values)
        for quantity, values in by_quantity(one.finding.measured)
    ]


def _wrapped(words: str, room: int, head: str = "", indent: int = INDENT) -> list[str]:
    space = " " * indent
    return textwrap.wrap(
        words,
        max(room, 2 * INDENT),
        initial_indent=head or space,
        subsequent_indent=space,
        break_on_hyphens=False,
    )


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else repr(value)
