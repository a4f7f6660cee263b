"""Checked statements: the sentence, its source, the computation, the verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, SupportsFloat, TypeVar, final
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from normgeo.base.refusal import Refusal
from normgeo.base.text import Text
from normgeo.claims.examples import ROUNDING, Example
from normgeo.invariance.certificate import Verdict
from normgeo.invariance.certificate import certify as certificate
from normgeo.invariance.transforms import Transform
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer

HOLDS, HOLDS_IF, FAILS = "holds", "holds if", "does not hold"
VERDICTS = (HOLDS, HOLDS_IF, FAILS)
DEPENDS = "depends on the example"
SIGNS = {HOLDS: "✓", HOLDS_IF: "≈", FAILS: "✗", DEPENDS: "?"}


PAPER_SAYS, FOLLOWS = "the paper says", "follows from the paper"
LATER, PRACTICE = "later work says", "practice"
KINDS = (PAPER_SAYS, FOLLOWS, LATER, PRACTICE)
LAST = 99  # sorts after every section


class Measured(NamedTuple):
    """A number behind a verdict, or a truth value.

    Attributes:
        quantity: its name. value: a float or a bool of Python.
        of: the measured object, if there are several. unit: "" without one.

    """

    quantity: str
    value: float | bool
    of: str = ""
    unit: str = ""

    @property
    def label(self) -> str:
        """Its name without the unit: "change of z, layer norm"."""
        return f"{self.quantity}, {self.of}" if self.of else self.quantity


Value = SupportsFloat | np.bool_
Numbers = tuple[Measured, ...]


def number(quantity: str, value: Value, unit: str = "") -> Numbers:
    """Return one measured value."""
    return numbers(quantity, {"": value}, unit)


def numbers(quantity: str, values: Mapping[str, Value], unit: str = "") -> Numbers:
    """Return a quantity as measured of several things."""
    return tuple(
        Measured(quantity, bool(v) if isinstance(v, bool | np.bool_) else float(v), of, unit)
        for of, v in values.items()
    )


def by_method(quantity: str, values: Mapping[str, Value], unit: str = "") -> Numbers:
    """Return a quantity as measured of several methods, keys of `NORMALIZERS`."""
    titled = {NORMALIZERS[method].title: value for method, value in values.items()}
    return numbers(quantity, titled, unit)


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
_results: ContextVar[dict[Any, Any] | None] = ContextVar("results", default=None)


def shared(compute: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let the claims of one audit share a computation; a single check does its own.

    Its arguments must be hashable, and its result must not be changed.
    """
    named = signature(compute)

    @wraps(compute)
    def computed(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        results = _results.get()
        if results is None:
            return compute(*args, **kwargs)
        given = named.bind(*args, **kwargs)
        given.apply_defaults()
        asked = compute, tuple(given.arguments.items())
        if asked not in results:
            results[asked] = compute(*args, **kwargs)
        result: Result = results[asked]
        return result

    return computed


@contextmanager
def sharing(results: dict[Any, Any]) -> Iterator[None]:
    """Keep and reuse the results of `shared` functions within the block."""
    token = _results.set(results)
    try:
        yield
    finally:
        _results.reset(token)


@shared
def certify(
    example: Example,
    normalizer: Normalizer,
    transform: Transform,
    eps: float | Fraction | None = None,
) -> Verdict:
    """Decide exactly whether z ignores a change, by a draw of the example's seed and size."""
    N, H, D = example.certificate
    shape = N, max(H, 3 * normalizer.groups), D
    return certificate(normalizer, transform, eps, shape=shape, rng=example.rng())


@final
@dataclass(frozen=True)
class Finding:
    """The result of a check.

    Attributes:
        everywhere: whether the statement is true as it stands.
        restricted: whether it is true under the claim's condition, or as its repair says; equal to
            `everywhere` if it has neither.
        measured: the numbers behind both.

    """

    everywhere: bool
    restricted: bool
    measured: Numbers


def plain(holds: bool, measured: Numbers) -> Finding:
    """Return the finding for a statement without a condition."""
    return Finding(holds, holds, measured)


@final
@dataclass(frozen=True)
class Claim:
    """A statement about normalization, and the computation that decides it.

    Attributes:
        key: its name. statement: in our words. source: the section or the work.
        kind: one of `KINDS`: the paper says it, or it follows (or seems to follow) from the paper,
            or later work or practice says it.
        check: computes the finding on an example.
        expected: the known verdict of this version of the computation; a different one is an
            alarm, not an answer.
        page: the address of the page that shows it, "" if none does.
        condition: the missing condition of a statement that "holds if".
        repair: of what a statement that does not hold is true: "of batch and layer norm".
        remark: an interpretation of the numbers.

    Raises:
        ValueError: an unknown kind or verdict, a condition without "holds if" or the reverse, or a
            repair of a statement that is not expected to fail.

    """

    key: str
    statement: str
    source: str
    check: Callable[[Example], Finding]
    expected: str
    page: str = ""
    condition: str = ""
    repair: str = ""
    remark: str = ""
    kind: str = PAPER_SAYS

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise Refusal(
                "The kind of a claim must be one of {kinds}; got {kind!r}.",
                kinds=", ".join(KINDS),
                kind=self.kind,
            )
        if self.expected not in VERDICTS:
            raise Refusal(
                "The verdict of a claim must be one of {verdicts}; got {expected!r}.",
                verdicts=", ".join(VERDICTS),
                expected=self.expected,
            )
        if (self.expected == HOLDS_IF) != bool(self.condition):
            raise Refusal(
                "A claim has a condition where it 'holds if', and only there; {key!r} is "
                "expected to be {expected!r} with the condition {condition!r}.",
                key=self.key,
                expected=self.expected,
                condition=self.condition,
            )

        if self.repair and self.expected != FAILS:
            raise Refusal(
                "A claim has a repair only where it 'does not hold'; {key!r} is expected to be "
                "{expected!r} with the repair {repair!r}.",
                key=self.key,
                expected=self.expected,
                repair=self.repair,
            )

    def verdict(self, finding: Finding) -> str:
        """Return `HOLDS`, `HOLDS_IF` (only under the condition) or `FAILS`."""
        if finding.everywhere:
            return HOLDS
        return HOLDS_IF if self.condition and finding.restricted else FAILS

    @property
    def place(self) -> tuple[int, ...]:
        """A sort key for its source in the paper: the section, (5, 2, 2).

        (0,) for the abstract; the appendix and other works sort after all sections.
        """
        source = self.source.sentence if isinstance(self.source, Text) else self.source
        if source.startswith("abstract"):
            return (0,)
        section = re.search(r"sections? (\d+(?:\.\d+)*)", source)
        return tuple(map(int, section[1].split("."))) if section else (LAST,)

    @property
    def destination(self) -> tuple[str, dict[str, str]]:
        """The name of the page's file, and its query."""
        parts = urlsplit(self.page)
        return parts.path, dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))


@final
@dataclass(frozen=True)
class Audited:
    """A claim with its findings on all examples.

    Attributes:
        finding: on the first example, which is shown. others: on the other examples.

    """

    claim: Claim
    finding: Finding
    others: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings on all examples, in their order."""
        return self.finding, *self.others

    @property
    def verdict(self) -> str:
        """The verdict of all examples, or `DEPENDS` if they do not agree."""
        verdicts = {self.claim.verdict(finding) for finding in self.findings}
        return verdicts.pop() if len(verdicts) == 1 else DEPENDS

    @property
    def as_expected(self) -> bool:
        """Whether the computed verdict is the expected one, and a repair works."""
        repaired = all(finding.restricted for finding in self.findings)
        return self.verdict == self.claim.expected and (repaired or not self.claim.repair)

    def range(self, measured: Measured) -> tuple[float, float] | None:
        """Return the smallest and the largest value of a quantity over the examples.

        None for a truth value, for equal values, and for rounding errors.
        """
        values = [
            each.value
            for finding in self.findings
            for each in finding.measured
            if (each.quantity, each.of) == (measured.quantity, measured.of)
            and not isinstance(each.value, bool)
        ]
        if len(values) < 2 or max(values) - min(values) <= ROUNDING:
            return None
        return min(values), max(values)
