"""The paper, checked: the table of claims, its filter, and the report."""

import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from normgeo import tables
from normgeo.claims import CLAIMS, FAILS, HOLDS, HOLDS_IF, SIGNS, Audited, Finding
from normgeo.claims.claim import number
from normgeo.settings import Settings
from normgeo.tables.audit import checked
from normgeo.ui.audit import LABELS, VERDICTS, records
from normgeo.ui.defects import SORRY
from normgeo.ui.results import Found

QUESTION = "Where is the paper exact, and where not?"
COUNTS = Counter(claim.expected for claim in CLAIMS.values())


@pytest.fixture(autouse=True)
def done(nothing_kept):
    """Findings as expected, without computing them: test_claims.py does."""
    found = {HOLDS: (True, True), HOLDS_IF: (False, True), FAILS: (False, True)}
    done = tuple(
        Audited(claim, Finding(*found[claim.expected], number("measured", 0.25)))
        for claim in CLAIMS.values()
    )
    nothing_kept.keep((checked, Settings(), str), Found(done, stopped=False))
    return done


def table(page) -> str:
    return page.table("audit")["html"]


def rows(page) -> list[str]:
    """The statements that are listed."""
    return re.findall(r'class="statement">([^<]*)<', table(page))


def labels(page) -> list[str]:
    (group,) = page.app.get("button_group")
    return list(group.options)


def test_every_claim_is_listed_with_its_verdict(shown):
    page = shown("audit")
    assert page.app.title[0].value == QUESTION
    assert len(rows(page)) == len(CLAIMS)
    for verdict, sign in SIGNS.items():
        assert table(page).count(f'aria-hidden="true">{sign}<') == COUNTS[verdict]
    assert page.query == {}


def test_counts_stand_at_the_top(shown):
    assert labels(shown("audit")) == [
        f"All {len(CLAIMS)}",
        f"✓ {COUNTS[HOLDS]} hold",
        f"≈ {COUNTS[HOLDS_IF]} hold if …",
        f"✗ {COUNTS[FAILS]} do not",
    ]


@pytest.mark.parametrize("name", [name for name in VERDICTS if name != "all"])
def test_filter_of_the_url_lists_one_verdict(shown, name):
    page = shown("audit", verdict=name)
    listed = {claim.statement for claim in CLAIMS.values() if claim.expected == VERDICTS[name]}
    assert len(rows(page)) == len(listed)
    assert len(labels(page)) == len(LABELS)


def test_click_on_a_count_goes_into_the_url(shown):
    page = shown("audit")
    page.app.get("button_group")[0].set_value("fails").run()
    assert page.query == {"verdict": "fails"}
    assert len(rows(page)) == COUNTS[FAILS]


def test_second_click_on_a_count_lists_all(shown):
    page = shown("audit", verdict="fails")
    page.app.get("button_group")[0].set_value(None).run()
    assert page.query == {}
    assert len(rows(page)) == len(CLAIMS)


def test_bad_filter_is_named_and_all_is_listed(shown):
    page = shown("audit", verdict="perhaps")
    assert (
        "`verdict` must be one of all, holds, holds_if, fails; got `'perhaps'`."
        in (page.warnings[0])
    )
    assert len(rows(page)) == len(CLAIMS)


def test_report_may_be_taken_away(shown):
    page = shown("audit")
    names = [button.proto.label for button in page.app.get("download_button")]
    assert names == ["HTML", "PDF", "CSV", "JSON"]


def test_records_hold_all_claims_whatever_is_listed(done):
    taken = json.loads(records(done, "json"))
    assert [record["key"] for record in taken] == list(CLAIMS)


def test_alarm_is_told_on_the_page(shown, nothing_kept, done):
    first, *others = done
    wrong = Audited(replace(first.claim, expected=FAILS, condition=""), first.finding)
    nothing_kept.keep((checked, Settings(), str), Found((wrong, *others), stopped=False))
    page = shown("audit")
    assert [error.value for error in page.app.error] == [
        f"Not the known verdicts: {first.claim.key}."
    ]


def test_check_that_cannot_be_done_is_a_defect(shown, monkeypatch, nothing_kept, defects):
    def broken(progress):
        raise RuntimeError("The check of 'table_1' could not be done: no.")
        yield

    nothing_kept.clear()
    monkeypatch.setattr(tables.audit, "audit", broken)
    page = shown("audit")
    assert [e.value for e in page.app.error] == [SORRY]
    (logged,) = defects
    defects.clear()
    assert logged.getMessage() == "A page has a defect: /audit?"
    assert "could not be done: no." in str(logged.exc_info[1])


def test_audit_runs_once_for_the_process(shown, monkeypatch, nothing_kept, done):
    nothing_kept.clear()
    runs = []

    def slowly(progress):
        runs.append(1)
        yield from progress.over(done)

    monkeypatch.setattr(tables.audit, "audit", slowly)
    for _ in range(2):
        page = shown("audit")
        assert len(rows(page)) == len(CLAIMS)
        assert not page.app.get("progress"), "the bar goes away"
    assert runs == [1]
