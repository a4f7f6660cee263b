"""The audit of all claims on one example: its verdicts, its numbers, its output on any terminal.

That of every example is what a page shows: `tests/browser/test_audit.py` holds its verdicts.
"""

import io
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import normgeo.claims
from normgeo.__main__ import main
from normgeo.claims import CLAIMS, EXAMPLES, Audited, Example, audit


class Run(NamedTuple):
    """The result of `normgeo audit` on examples: its status, its output, and its findings."""

    examples: tuple[Example, ...]
    status: int
    out: str
    err: str
    audited: list[Audited]


@pytest.fixture(scope="module")
def run() -> Run:
    found: list[Audited] = []
    examples = EXAMPLES[1:2]

    def recorded(progress: Any) -> Iterator[Audited]:
        for one in audit(progress):
            found.append(one)
            yield one

    streams = {name: io.TextIOWrapper(io.BytesIO(), "ascii") for name in ("stdout", "stderr")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.setattr(normgeo.claims, "EXAMPLES", examples)
        patch.setattr(normgeo.claims, "audit", recorded)
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        status = main(["audit"])
    for stream in streams.values():
        stream.flush()
    out, err = (stream.buffer.getvalue().decode("ascii") for stream in streams.values())  # type: ignore[attr-defined]
    return Run(examples, status, out, err, found)


def test_every_claim_has_its_verdict(run: Run) -> None:
    wrong = {
        one.claim.key: [(one.claim.verdict(each), each.restricted) for each in one.findings]
        for one in run.audited
        if not one.as_expected
    }
    assert wrong == {}
    assert [one.claim.key for one in run.audited] == list(CLAIMS)
    assert {len(one.findings) for one in run.audited} == {len(run.examples)}
    assert run.status == 0


def test_every_measured_value_is_plain_and_has_a_label_of_its_own(run: Run) -> None:
    for one in run.audited:
        for finding in one.findings:
            assert {type(m.value) for m in finding.measured} <= {float, bool}
            assert all(np.isfinite(m.value) for m in finding.measured)
            assert all(m.quantity for m in finding.measured)
            labels = [m.label for m in finding.measured]
            assert len(set(labels)) == len(labels) > 0, one.claim.key


def test_audit_is_told_in_any_encoding(run: Run) -> None:
    assert f"Of {len(CLAIMS)} statements" in run.out
    assert "?" not in run.out
    bar = rf"(\r\|[#\d ]+\| Checked \d+ of {len(CLAIMS)} statements)*\n?"
    assert re.fullmatch(bar, run.err)
