"""The paper, checked: the table of claims, its filter, and the report."""

import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape

import pytest
import streamlit as st

from normgeo import claims
from normgeo.claims import (
    CLAIMS,
    FAILS,
    FOLLOWS,
    HOLDS,
    HOLDS_IF,
    PAPER_SAYS,
    SIGNS,
    Audited,
    checked,
)
from normgeo.settings import Settings
from normgeo.tables import marks
from normgeo.ui import audit
from normgeo.ui.audit import KINDS, LABELS, VERDICTS, records
from normgeo.ui.computing.task import Found
from normgeo.ui.defects import SORRY

QUESTION = "Where is the paper exact, and where not?"
COUNTS = Counter(claim.expected for claim in CLAIMS.values())


@pytest.fixture(autouse=True)
def done(keep_audit):
    """Findings as expected, without computing them: test_claims.py does."""
    return keep_audit()


def table(page) -> str:
    return page.table("audit")["html"]


def rows(page) -> list[str]:
    """The statements that are listed."""
    return re.findall(r'class="statement">([^<]*?)\s*<', table(page))


def choice(page, setting):
    (group,) = [group for group in page.app.get("button_group") if group.key == setting]
    return group


def labels(page) -> list[str]:
    return list(choice(page, "verdict").options)


def test_every_claim_is_listed_with_its_verdict(shown):
    page = shown("audit")
    assert page.app.title[0].value == QUESTION
    assert len(rows(page)) == len(CLAIMS)
    for verdict, sign in SIGNS.items():
        drawn = f'd="{marks.path(sign)}"' if sign in marks.MARKS else f">{sign}<"
        assert table(page).count(drawn) == COUNTS[verdict]
    assert page.query == {}


def test_counts_stand_at_the_top(shown):
    assert labels(shown("audit")) == [
        f"All {len(CLAIMS)}",
        f"{COUNTS[HOLDS]} hold",
        f"≈ {COUNTS[HOLDS_IF]} hold if …",
        f"{COUNTS[FAILS]} do not",
    ]


def test_filter_of_the_url_lists_one_verdict(shown, subtests):
    for name in [name for name in VERDICTS if name != "all"]:
        with subtests.test(name=name):
            page = shown("audit", verdict=name)
            listed = {
                claim.statement for claim in CLAIMS.values() if claim.expected == VERDICTS[name]
            }
            assert len(rows(page)) == len(listed)
            assert len(labels(page)) == len(LABELS)


def test_inexact_places_are_a_short_list_above_whatever_is_listed(shown):
    wrong = [c for c in CLAIMS.values() if c.kind == PAPER_SAYS and c.expected == FAILS]
    said = sum(c.kind == PAPER_SAYS for c in CLAIMS.values())
    first = shown("audit", kind="practice").table("inexact")["html"]
    assert f"{len(wrong)} of {said} statements of the paper do not hold as they stand." in first
    assert re.findall(r'data-key="(\w+)"', first) == [c.key for c in wrong if c.page]
    for claim in wrong:
        assert str(claim.repair) in unescape(first)


def test_filter_of_the_url_lists_one_kind(shown, subtests):
    for name in [name for name in KINDS if name != "all"]:
        with subtests.test(name=name):
            page = shown("audit", kind=name)
            listed = [claim.statement for claim in CLAIMS.values() if claim.kind == KINDS[name]]
            assert [unescape(row) for row in rows(page)] == listed
            assert labels(page)[0] == f"All {len(listed)}", "what the counts count"


def test_kind_and_verdict_filter_together_and_are_in_the_url(shown):
    page = shown("audit", verdict="fails")
    choice(page, "kind").set_value("follows").run()
    assert page.query == {"verdict": "fails", "kind": "follows"}
    both = [c for c in CLAIMS.values() if c.kind == FOLLOWS and c.expected == FAILS]
    assert len(rows(page)) == len(both)


def test_click_on_a_count_goes_into_the_url(shown):
    page = shown("audit")
    choice(page, "verdict").set_value("fails").run()
    assert page.query == {"verdict": "fails"}
    assert len(rows(page)) == COUNTS[FAILS]


def test_second_click_on_a_count_lists_all(shown):
    page = shown("audit", verdict="fails")
    choice(page, "verdict").set_value(None).run()
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
    nothing_kept.keep((checked, Settings()), Found((wrong, *others), stopped=False))
    page = shown("audit")
    assert [error.value for error in page.app.error] == [
        f"Not the known verdicts: {first.claim.key}."
    ]


def test_check_that_cannot_be_done_is_a_defect(shown, monkeypatch, nothing_kept, defects):
    def broken(progress):
        raise RuntimeError("The check of 'table_1' could not be done: no.")
        yield

    nothing_kept.clear()
    monkeypatch.setattr(claims, "audit", broken)
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

    monkeypatch.setattr(claims, "audit", slowly)
    for _ in range(2):
        page = shown("audit")
        assert len(rows(page)) == len(CLAIMS)
        assert not page.app.get("progress"), "the bar goes away"
    assert runs == [1]


class Elsewhere:
    """What a session knows of its browser, at another address."""

    def __init__(self, address):
        self.url, self._context = address, st.context

    def __getattr__(self, name):
        return getattr(self._context, name)


@pytest.mark.parametrize(
    ("address", "home"),
    [
        ("https://class.example/norms/audit?kind=paper&left=a/b", "https://class.example/norms/"),
        ("http://localhost:8501/audit", "http://localhost:8501/"),
        (None, ""),
    ],
)
def test_links_of_a_report_lead_to_where_the_page_stands(shown, monkeypatch, address, home):
    """Without an address there are none: the file would look for the pages beside itself."""
    files = {}
    monkeypatch.setattr(st, "context", Elsewhere(address))
    monkeypatch.setattr(
        audit, "download", lambda *given, file, help: files.update({given[2]: given[3]})
    )
    shown("audit")
    links = re.findall(r'href="([^"]*)"', files["html"]().decode())
    expected = {f"{home}invariance?statistics=frozen"} if home else set()
    assert {link for link in links if link.endswith("?statistics=frozen")} == expected
