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
    PRACTICE,
    SIGNS,
    Audited,
    checked,
)
from normgeo.claims.table_1 import PAPER_TABLE_1
from normgeo.settings import Settings
from normgeo.tables import marks, report
from normgeo.ui import audit
from normgeo.ui.audit import KINDS, LABELS, VERDICTS, latex, records
from normgeo.ui.computing.task import Found
from normgeo.ui.defects import SORRY
from normgeo.workers.run import Run

QUESTION = "Where is the paper exact, and where not?"
COUNTS = Counter(claim.expected for claim in CLAIMS.values())
OF_THE_PAPER = Counter(c.expected for c in CLAIMS.values() if c.kind == PAPER_SAYS)


@pytest.fixture(autouse=True)
def done(keep_audit):
    """Findings as expected, without computing them: test_claims.py does."""
    return keep_audit()


def table(page) -> str:
    return page.table("audit")["html"]


def rows(page) -> list[str]:
    """The keys of the statements that are listed."""
    return re.findall(r'data-claim="(\w+)"', table(page))


def verdicts(page):
    (group,) = [group for group in page.app.get("button_group") if group.key == "verdict"]
    return group


def labels(page) -> list[str]:
    return list(verdicts(page).options)


def test_every_claim_is_listed_with_its_verdict(shown):
    page = shown("audit", kind="all")
    assert page.app.title[0].value == QUESTION
    assert len(rows(page)) == len(CLAIMS)
    for verdict, sign in SIGNS.items():
        drawn = f'd="{marks.path(sign)}"' if sign in marks.MARKS else f">{sign}<"
        assert table(page).count(drawn) == COUNTS[verdict]
    assert page.query == {"kind": "all"}


def test_counts_stand_at_the_top(shown):
    for kind, counted in (("paper", OF_THE_PAPER), ("all", COUNTS)):
        assert labels(shown("audit", kind=kind)) == [
            f"{counted[HOLDS]} hold",
            f"≈ {counted[HOLDS_IF]} hold if …",
            f"{counted[FAILS]} do not",
        ]


def test_it_opens_with_the_statements_of_the_paper_that_the_headline_counts(shown):
    page = shown("audit")
    said = [key for key, claim in CLAIMS.items() if claim.kind == PAPER_SAYS]
    assert sorted(rows(page)) == sorted(said)
    assert labels(page) == labels(shown("audit", kind="paper"))
    exact, some, wrong = (OF_THE_PAPER[verdict] for verdict in (HOLDS, HOLDS_IF, FAILS))
    counts = f"{exact} exact, {some} under a condition, {wrong} not"
    assert f"{len(said)} statements of the paper: {counts}<" in table(page)


def test_filter_of_the_url_lists_one_verdict(shown, subtests):
    for name in [name for name in VERDICTS if name != "all"]:
        with subtests.test(name=name):
            page = shown("audit", verdict=name, kind="all")
            listed = {claim.key for claim in CLAIMS.values() if claim.expected == VERDICTS[name]}
            assert set(rows(page)) == listed
            assert len(labels(page)) == len(LABELS)


def test_inexact_places_come_first_beneath_how_many_they_are(shown):
    wrong = [c for c in CLAIMS.values() if c.kind == PAPER_SAYS and c.expected == FAILS]
    said = sum(c.kind == PAPER_SAYS for c in CLAIMS.values())
    some = sum(c.kind == PAPER_SAYS and c.expected == HOLDS_IF for c in CLAIMS.values())
    exact = said - some - len(wrong)
    counts = f"{exact} exact, {some} under a condition, {len(wrong)} not<"
    headline = f"{said} statements of the paper: {counts}"
    page = shown("audit")
    assert headline in table(page)
    assert rows(page)[: len(wrong)] == [claim.key for claim in wrong]
    for claim in wrong:
        assert str(claim.repair) in unescape(table(page)).replace("\N{NO-BREAK SPACE}", " ")
    total = f"{len(CLAIMS) - said} more, not in the paper, are checked too."
    assert total in table(page)
    assert "The other statements of the paper" in table(page)
    part = table(shown("audit", kind="practice"))
    count = sum(claim.kind == PRACTICE for claim in CLAIMS.values())
    assert f"{count} of {len(CLAIMS)} statements are listed<" in part
    assert total in part
    assert headline not in part


def test_filter_of_the_url_lists_one_kind(shown, subtests):
    for name in [name for name in KINDS if name != "all"]:
        with subtests.test(name=name):
            page = shown("audit", kind=name)
            listed = {key: claim for key, claim in CLAIMS.items() if claim.kind == KINDS[name]}
            assert set(rows(page)) == set(listed)
            count = sum(claim.expected == FAILS for claim in listed.values())
            assert labels(page)[-1] == f"{count} do not", "of this kind"


def test_kind_and_verdict_filter_together_and_are_in_the_url(shown):
    page = shown("audit", verdict="fails")
    page.app.selectbox(key="kind").set_value("follows").run()
    assert page.query == {"verdict": "fails", "kind": "follows"}
    both = [c for c in CLAIMS.values() if c.kind == FOLLOWS and c.expected == FAILS]
    assert len(rows(page)) == len(both)


def test_click_on_a_count_goes_into_the_url(shown):
    page = shown("audit")
    verdicts(page).set_value("fails").run()
    assert page.query == {"verdict": "fails"}
    assert len(rows(page)) == OF_THE_PAPER[FAILS]


def test_second_click_on_a_count_lists_all(shown):
    page = shown("audit", verdict="fails")
    verdicts(page).set_value(None).run()
    assert page.query == {}
    assert len(rows(page)) == OF_THE_PAPER.total()


def test_bad_filter_is_named_and_all_is_listed(shown):
    page = shown("audit", verdict="perhaps")
    assert (
        "`verdict` must be one of all, holds, holds_if, fails; got `'perhaps'`."
        in (page.warnings[0])
    )
    assert len(rows(page)) == OF_THE_PAPER.total()


def test_report_may_be_taken_away(shown):
    page = shown("audit")
    names = [button.proto.label for button in page.app.get("download_button")]
    assert names == ["HTML", "PDF", "LaTeX, with Table 1", "CSV", "JSON"]


def test_table_1_and_the_statements_leave_as_latex(done):
    words = latex(done).decode()
    table_1, statements = words.split(r"\begin{longtable}")
    assert table_1.count(r"$\checkmark$") == sum(
        invariant for row in PAPER_TABLE_1.values() for invariant in row.values()
    )
    assert statements.count(r" \\") == 1 + len(CLAIMS)


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
    def broken(progress, claims):
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

    def slowly(progress, claims):
        runs.append(1)
        yield from progress.over(done)

    monkeypatch.setattr(claims, "audit", slowly)
    for _ in range(2):
        page = shown("audit", kind="all")
        assert len(rows(page)) == len(CLAIMS)
        assert not page.app.get("progress"), "the bar goes away"
    assert runs == [1]


def test_statements_are_drawn_as_they_are_checked(shown, nothing_kept, pool, done, monkeypatch):
    """The run gives the first claims, and does not end before they are drawn."""
    nothing_kept.clear()
    drawn = []

    class Slow(Run):
        def wait(self, seconds):
            if drawn and not self.ended:
                self.end(result=done, whole=True)
            return self.ended

    def ask(visitor, key, compute, *given, on_end, limits=None):
        run = runs.setdefault(key, Slow(key, visitor, b"", on_end))
        run.given[:] = done[3:1:-1]
        return run

    def listed(audited, **of):
        drawn.append([one.claim.key for one in audited])
        return whole(audited, **of)

    runs, whole = {}, report.listed
    monkeypatch.setattr(pool, "ask", ask)
    pool.before = lambda run: 0
    monkeypatch.setattr(report, "listed", listed)
    assert len(rows(shown("audit", kind="all"))) == len(CLAIMS)
    keys = list(CLAIMS)
    assert drawn == [keys[2:4], keys]


class Elsewhere:
    """What a session knows about its browser, for another address."""

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
    """Without an address there are no links: they would lead to pages beside the file."""
    files = {}
    monkeypatch.setattr(st, "context", Elsewhere(address))
    monkeypatch.setattr(
        audit, "download", lambda *given, file, help: files.update({given[2]: given[3]})
    )
    shown("audit")
    links = re.findall(r'href="([^"]*)"', files["html"]().decode())
    expected = {f"{home}invariance?statistics=frozen"} if home else set()
    assert {link for link in links if link.endswith("?statistics=frozen")} == expected
