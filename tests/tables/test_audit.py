"""The audit in words, as tables and on the command line."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

import normgeo.claims
from normgeo.__main__ import main
from normgeo.base.refusal import Refusal
from normgeo.claims import (
    CLAIMS,
    DEPENDS,
    EXAMPLES,
    FAILS,
    HOLDS,
    HOLDS_IF,
    SIGNS,
    Audited,
    Claim,
    Example,
    Finding,
)
from normgeo.claims.claim import number, numbers
from normgeo.tables.audit import (
    EXAMPLES_TOLD,
    audit_records,
    audit_table,
    counts,
    listing,
    shown,
    summary,
)
from normgeo.tables.formats import FORMATS, render

Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch

MEASURED = numbers("growth", {"layer norm": 0.123456789, "standard": 2.0}, "decades")


def planted(key: str, everywhere: bool, restricted: bool, expected: str) -> Claim:
    """A claim with the words of a real one and a finding of our own."""
    finding = Finding(everywhere, restricted, MEASURED + number("it is so", everywhere))
    condition = "it is Sunday" if expected == HOLDS_IF else ""
    return replace(
        CLAIMS[key],
        check=lambda example: finding,
        expected=expected,
        condition=condition,
        repair="of less" if expected == FAILS else "",
        remark="",
    )


@pytest.fixture
def three(monkeypatch: Patch) -> Sequence[Audited]:
    """Three quick claims in place of the real ones, one of each verdict, all as expected."""
    claims = (
        planted("equation_5", True, True, HOLDS),
        planted("table_1", False, True, HOLDS_IF),
        planted("turn_halves", False, True, FAILS),
    )
    monkeypatch.setattr(normgeo.claims, "CLAIMS", {claim.key: claim for claim in claims})
    return tuple(Audited(claim, claim.check(EXAMPLES[0])) for claim in claims)


# Tables.


def test_listing_has_every_part_of_a_claim(three: Sequence[Audited]) -> None:
    words = listing(three, 80)
    assert max(map(len, words.splitlines())) <= 80
    flat = " ".join(words.split())
    for one in three:
        assert f"{SIGNS[one.verdict]} {one.verdict}" in flat
        assert one.claim.statement in flat
        assert one.claim.source in flat
    assert "If it is Sunday." in flat
    assert "True of less." in flat
    assert "growth (decades): layer norm 0.123, standard 2" in flat
    assert "it is so: yes" in flat
    assert flat.startswith(
        "2 statements of the paper: 1 exact, 1 under a condition, 0 not. The paper"
    )
    assert flat.index("The paper says ===") < flat.index("Follows from the paper, or seems to ===")
    assert flat.endswith(f"{EXAMPLES_TOLD} {summary(three)}")
    assert "computed on 4 examples, with 3 seeds and 2 sizes." in flat


def test_summary_counts_the_verdicts(three: Sequence[Audited]) -> None:
    assert counts(three) == {HOLDS: 1, HOLDS_IF: 1, FAILS: 1}
    assert summary(three) == (
        "Of 3 statements 1 hold (✓), 1 hold on a condition (≈) and 1 do not hold (✗)."
    )


def test_records_keep_all_digits_and_units(three: Sequence[Audited]) -> None:
    first, *_ = json.loads(render(audit_records(three), "json"))
    assert first["key"] == "equation_5"
    assert first["verdict"] == first["expected"] == "holds"
    assert first["as_expected"] is True
    assert first["measured"] == {
        "growth, layer norm (decades)": 0.123456789,
        "growth, standard (decades)": 2.0,
        "it is so": True,
    }
    rows = csv.DictReader(io.StringIO(render(audit_records(three), "csv"), newline=""))
    assert next(rows)["measured"] == (
        "growth, layer norm (decades) = 0.123456789; growth, standard (decades) = 2.0; "
        "it is so = true"
    )


def test_a_number_that_is_none_is_left_empty() -> None:
    finding = Finding(False, False, number("loss", float("nan")))
    (record,) = audit_records([Audited(CLAIMS["equation_5"], finding)]).records()
    assert json.loads(json.dumps(record, allow_nan=False))["measured"] == {"loss": None}
    assert str(record["measured"]) == "loss = "
    assert shown(float("inf")) == "—"


def test_a_name_that_ends_in_a_digit_is_kept_apart_from_its_number() -> None:
    finding = Finding(True, True, numbers("error", {"ε = 0": 8, "radius": 2}))
    words = listing([Audited(CLAIMS["equation_5"], finding)], 80)
    assert "error: ε = 0: 8, radius 2" in words


def test_an_alarm_is_told(three: Sequence[Audited]) -> None:
    alarm = Audited(replace(three[0].claim, expected=FAILS), three[0].finding)
    assert "Not as expected: does not hold." in listing([alarm], 80)
    assert "Not as expected" not in listing(three, 80)


def test_a_verdict_that_depends_on_the_example_is_told(three: Sequence[Audited]) -> None:
    first, *_ = three
    unsure = replace(first, others=(replace(first.finding, everywhere=False, restricted=False),))
    for words in (listing([unsure], 80), render(audit_table([unsure]), "markdown")):
        assert "?" in words
        assert "The verdict changes with the seed or the size, so there is no verdict." in " ".join(
            words.split()
        )
    assert "? undecided" in listing([unsure], 80)
    assert summary([unsure]).endswith(
        "0 do not hold (✗). Of 1 the verdict changes with the seed or the size (?)."
    )
    assert audit_records([unsure]).records()[0]["verdict"] == DEPENDS


def test_range_over_the_examples_stands_beside_a_value() -> None:
    at = [Finding(True, True, number("error", value) + number("steps", 5)) for value in (2, 1, 3.5)]
    one = Audited(CLAIMS["equation_5"], at[0], tuple(at[1:]))
    assert "error: 2 (1 to 3.5)\n" in listing([one], 80)
    assert "steps: 5\n" in listing([one], 80)
    (record,) = audit_records([one]).records()
    assert json.loads(json.dumps(record))["ranges"] == {"error": [1.0, 3.5]}
    assert str(record["ranges"]) == "error = (1.0, 3.5)"


# The command.


@pytest.mark.parametrize("format", FORMATS)
def test_audit_prints_every_format(
    format: str, three: Sequence[Audited], capsys: Captured, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    assert main(["audit", "--format", format]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    if format == "text":
        assert out == listing(three, 90)
    else:
        table = audit_records(three) if format in {"csv", "json"} else audit_table(three)
        assert out == render(table, format)


def test_an_unexpected_verdict_is_status_1_after_all_is_printed(
    three: Sequence[Audited], capsys: Captured, monkeypatch: Patch
) -> None:
    claims = {one.claim.key: one.claim for one in three}
    claims["table_1"] = replace(claims["table_1"], expected=HOLDS, condition="")
    monkeypatch.setattr(normgeo.claims, "CLAIMS", claims)
    assert main(["audit"]) == 1
    out, err = capsys.readouterr()
    assert all(" ".join(c.statement.split()) in " ".join(out.split()) for c in claims.values())
    assert (
        err == "1 of 3 verdicts are not the known ones: table_1 is 'does not hold', not 'holds'.\n"
    )


def test_a_repair_that_does_not_repair_is_status_1(
    three: Sequence[Audited], capsys: Captured, monkeypatch: Patch
) -> None:
    broken = replace(three[2].claim, check=lambda example: Finding(False, False, MEASURED))
    monkeypatch.setattr(normgeo.claims, "CLAIMS", {"turn_halves": broken})
    assert main(["audit"]) == 1
    out, err = capsys.readouterr()
    assert "Not as expected: the repair does not help." in out
    assert err == "1 of 1 verdicts are not the known ones: the repair of turn_halves is none.\n"


def test_a_check_that_fails_is_status_1_and_a_sentence(
    three: Sequence[Audited], capsys: Captured, monkeypatch: Patch
) -> None:
    def check(example: Example) -> Finding:
        raise Refusal("σ must not vanish.")

    broken = replace(three[0].claim, check=check)
    monkeypatch.setattr(normgeo.claims, "CLAIMS", {"equation_5": broken})
    assert main(["audit"]) == 1
    assert capsys.readouterr() == (
        "",
        "The check of 'equation_5' could not be done: σ must not vanish.\n",
    )


def test_an_interruption_ends_the_line_and_is_one_sentence(
    three: Sequence[Audited], capsys: Captured, monkeypatch: Patch
) -> None:
    def check(example: Example) -> Finding:
        raise KeyboardInterrupt

    claims = {"equation_5": three[0].claim, "table_1": replace(three[1].claim, check=check)}
    monkeypatch.setattr(normgeo.claims, "CLAIMS", claims)
    monkeypatch.setattr("normgeo.cli.progress.PATIENCE", 1e-9)
    assert main(["audit"]) == 130
    out, err = capsys.readouterr()
    bar, sentence = err.rpartition("\r")[2].splitlines()
    assert (out, bar) == ("", f"|{'█' * 12}{' ' * 12}| Checked 1 of 2 statements")
    assert sentence == "Interrupted. Every file that was written is whole."
