"""Statements of section 6, tried small: what the experiments that ship have measured."""

from __future__ import annotations

from functools import partial

from normgeo.base.text import text
from normgeo.claims.claim import FAILS, FOLLOWS, HOLDS, Claim, Finding, numbers, plain
from normgeo.claims.examples import Example
from normgeo.experiments.results import FASTER, IN_WORDS, STATEMENTS, load, shares

EXPECTED = {
    "order": FAILS,
    "reader": FAILS,
    "skip_thoughts": FAILS,
    "draw": FAILS,
    "handwriting": FAILS,
    "mnist": HOLDS,
    "convolution": FAILS,
}


def _sooner(name: str, example: Example) -> Finding:
    """Count the seeds in which the fast method gets as good in time, late and never."""
    found = shares(load(name))
    fast = IN_WORDS[STATEMENTS[name].fast]
    counts = {
        text("in at most {share} of the steps", share=f"{FASTER:.0%}"): 0,
        text("later"): 0,
        text("never"): 0,
    }
    for share in found:
        counts[[*counts][0 if share <= FASTER else 1 if share < float("inf") else 2]] += 1
    return plain(
        max(found) <= FASTER, numbers(text("seeds in which {fast} is as good", fast=fast), counts)
    )


def _claim(name: str) -> Claim:
    statement = STATEMENTS[name]
    return Claim(
        key=f"experiment_{name}",
        statement=text(
            "Tried small, {fast} gets as far as {slow} in {share} of the steps: {subject}.",
            subject=statement.subject,
            fast=IN_WORDS[statement.fast],
            slow=IN_WORDS[statement.slow],
            share=f"{FASTER:.0%}",
        ),
        source=statement.section,
        check=partial(_sooner, name),
        expected=EXPECTED[name],
        page=f"experiments?tab={name}",
        kind=FOLLOWS,
        remark=text(
            "It must be so at every seed; where seeds differ, the page Experiments calls it open. "
            "The paper's own experiment is larger, and nothing is decided about it."
        ),
    )


CLAIMS = tuple(map(_claim, STATEMENTS))
