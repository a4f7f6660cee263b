"""The report: a list with words and links, a page that stands alone, a PDF or a sentence."""

from html import escape
from html.parser import HTMLParser
from typing import Any

import pytest

from normgeo.claims import CLAIMS, FAILS, HOLDS, HOLDS_IF, Audited, Finding
from normgeo.claims.claim import Numbers, number, numbers
from normgeo.tables import marks, report

VERDICTS = {HOLDS: (True, True), HOLDS_IF: (False, True), FAILS: (False, False)}


def audited(key: str, measured: Numbers = (), verdict: str | None = None) -> Audited:
    claim = CLAIMS[key]
    return Audited(claim, Finding(*VERDICTS[verdict or claim.expected], measured))


class Reader(HTMLParser):
    """The elements of a page, (tag, attributes), with the words of each statement and title."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.rows: list[str] = []
        self.titles: list[str] = []
        self._into: list[str] = []
        self.feed(html)
        self.close()
        self.rows = [" ".join(words.split()) for words in self.rows]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in {"li", "h2", "h3"}:
            self._into = self.rows if tag == "li" else self.titles
            self._into.append("")

    def handle_data(self, data: str) -> None:
        if self._into:
            self._into[-1] += data


def test_row_has_sign_and_word_statement_and_source_and_unfolds() -> None:
    measured = numbers("error", {"layer norm": 0.25, "batch norm": 3.06e-16}, "m")
    found = Reader(report.listed([audited("two_words", measured)]))
    assert [title.strip() for title in found.titles] == ["Follows from the paper, or seems to"]
    (row,) = found.rows
    assert ("path", {"d": marks.path("≈")}) in found.tags, "drawn, as everywhere"
    claim = CLAIMS["two_words"]
    assert row.startswith(f"holds if … {claim.statement} {claim.source} If {claim.condition}.")
    assert "error (m): layer norm 0.25, batch norm 3.06 · 10⁻¹⁶" in row
    assert row.endswith("See it: Invariance")
    assert ("b", {"title": "3.06e-16"}) not in found.tags, "nothing was rounded"


def test_rounded_number_has_all_its_digits_on_hover() -> None:
    found = Reader(report.listed([audited("equation_5", number("error", -0.123456789))]))
    assert ("b", {"title": "-0.123456789"}) in found.tags
    assert "error: −0.123 " in found.rows[-1]


def test_index_is_a_subscript() -> None:
    html = report.listed([audited("standard_metric")])
    assert "δ<sub>i</sub> δ<sub>j</sub>" in html
    assert "E[Cov<sub>ij</sub>\N{NO-BREAK SPACE}a<sub>i</sub>" in html, "a product stays whole"


def test_number_is_shown_as_people_write_it(subtests: pytest.Subtests) -> None:
    for value, words in [
        (0.0, "0"),
        (72.0, "72"),
        (123456.0, "123,000"),
        (1e30, "1 · 10³⁰"),
        (True, "yes"),
        (float("nan"), "—"),
        (float("inf"), "—"),
    ]:
        with subtests.test(value=value):
            found = Reader(report.listed([audited("equation_5", number("it", value))], None))
            assert found.rows[-1].endswith(f" it: {words}")


def test_link_leads_to_the_page_and_says_to_what() -> None:
    ((_, link),) = [
        tag
        for tag in Reader(report.listed([audited("dataset_rescaling")], "http://x/")).tags
        if tag[0] == "a"
    ]
    assert link["href"] == "http://x/invariance?cell=weight.dataset_rescaling"
    assert link["aria-label"] == f"Invariance: {CLAIMS['dataset_rescaling'].statement}"
    home = report.listed([audited("equation_5")], "http://x/")
    assert 'href="http://x/"' in home, "the first page has no name in its address"
    nowhere = next(key for key, each in CLAIMS.items() if not each.page)
    assert "<a " not in report.listed([audited(nowhere)])


def test_what_is_written_in_a_claim_is_no_markup() -> None:
    measured = number("<script>", 1)
    assert "<script>" not in report.listed([audited("table_1", measured)])
    assert "δ &lt; 0" not in report.listed([audited("equation_5")])


def test_page_stands_alone() -> None:
    html = report.page([audited("table_1"), audited("equation_5"), audited("turn_halves")])
    found = Reader(html)
    assert not [tag for tag, _ in found.tags if tag in {"script", "link", "img", "a", "iframe"}]
    assert "url(" not in html
    assert "<title>The paper, checked</title>" in html
    assert "Of 3 statements 1 hold (✓), 1 hold on a condition (≈) and 1 do not hold (✗)." in html
    assert "2 statements of the paper: 1 exact, 1 under a condition, 0 not<" in html, "one follows"


def test_inexact_places_come_first_with_what_repairs_them_and_a_link() -> None:
    wrong = audited("dataset_rescaling", verdict=FAILS)
    html = report.page([audited("table_1"), wrong, audited("turn_halves")], "http://x/")
    first, *_ = html.split("<h3>")
    assert "2 statements of the paper: 0 exact, 1 under a condition, 1 not<" in first
    assert escape(str(wrong.claim.statement)) in first
    assert f"True {wrong.claim.repair}." in first.split("</summary>")[0], "on its row"
    assert 'href="http://x/invariance?cell=weight.dataset_rescaling"' in first
    assert str(CLAIMS["turn_halves"].statement) not in first, "the paper does not say it"
    assert Reader(html).titles[1].strip() == "The other statements of the paper"


def test_numbers_are_folded_on_a_screen_and_not_on_paper() -> None:
    one = [audited("table_1", number("it", 1))]
    assert '<details data-claim="table_1">' in report.page(one)
    assert '<details data-claim="table_1" open>' in report.page(one, unfolded=True)


def test_kinds_are_kept_apart_in_their_order() -> None:
    found = Reader(report.listed([audited(key) for key in CLAIMS]))
    assert [title.strip() for title in found.titles] == [
        "The other statements of the paper",
        "Follows from the paper, or seems to",
        "Later work says",
        "Practice",
    ]


def test_page_links_to_the_application_where_that_is_known() -> None:
    html = report.page([audited("table_1")], "http://x/")
    assert 'href="http://x/invariance"' in html


def test_headline_tells_that_it_is_of_what_is_checked_so_far():
    """Nobody takes 0 of 3 statements for the answer while the others are checked."""
    some = [audited(key) for key in [*CLAIMS][:3]]
    every = [audited(key) for key in CLAIMS]
    assert "So far: " in report.listed(some, of=some)
    assert "So far: " not in report.listed(every, of=every)
