"""The paper, checked, in a browser: links that lead to the right state, and the report."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from normgeo.claims import CLAIMS, FAILS, PAPER_SAYS

from .conftest import address, query


@pytest.fixture
def shown(look_at: Callable[[str], Page]) -> Page:
    return look_at("/audit")


@pytest.fixture
def audit(server: str, page: Page, wait_settled: Callable[[Page], None]) -> Page:
    return opened(page, f"{server}/audit", wait_settled)


def opened(page: Page, url: str, wait_settled: Callable[[Page], None]) -> Page:
    page.goto(url)
    page.locator(".st-key-export_audit").wait_for()
    wait_settled(page)
    return page


def download(page: Page, name: str, folder: Path) -> Path:
    with page.expect_download() as started:
        page.get_by_role("button", name=name, exact=True).click()
    target = folder / started.value.suggested_filename
    started.value.save_as(target)
    return target


def test_bar_tells_how_far_the_computation_is_and_a_stop_keeps_what_there_is(
    fresh_server, page, wait_settled, axe
):
    """Stopped, as the audit of the other tests is enough."""
    page.goto(f"{fresh_server}/audit")
    expect(page.get_by_role("progressbar")).to_be_visible()
    told = page.get_by_text(re.compile(rf"^Checked [1-9]\d* of {len(CLAIMS)} statements$"))
    expect(told).to_be_visible()
    row = page.locator(".st-key-audit summary").first
    row.click()
    expect(page.locator(".st-key-audit summary").nth(5)).to_be_visible()
    expect(page.locator(".st-key-audit details[open]")).to_have_count(1)  # as more are listed
    page.get_by_role("button", name="Stop").click()
    stopped = page.get_by_text(re.compile(rf"^Stopped: \d+ of {len(CLAIMS)} are checked\.$"))
    expect(stopped).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    wait_settled(page)
    assert axe(page) == []
    page.goto(f"{fresh_server}/audit?embed=true")
    expect(page.locator(".st-key-audit summary").first).to_be_visible()
    expect(page.locator("h1")).not_to_be_visible()


@pytest.mark.exhaustive
def test_inexact_places_are_the_first_thing_on_a_projector(look_at):
    wrong = [c for c in CLAIMS.values() if c.kind == PAPER_SAYS and c.expected == FAILS]
    for path in ("/audit", "/audit?present=1"):
        page = look_at(path)
        headline = page.locator(".headline")
        said = re.compile("^\\d+ statements of the paper: \\d+ exact, ")
        expect(headline).to_have_text(said)
        assert headline.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 24
        last = page.locator(".st-key-audit summary").nth(len(wrong) - 1)
        expect(last).to_be_in_viewport(ratio=1)
        expect(last.locator(".word")).to_have_text("does not hold")


@pytest.mark.exhaustive
@pytest.mark.parametrize(("width", "height", "tallest"), [(1280, 720, 2500), (390, 844, 5000)])
def test_all_statements_are_a_list_of_lines(look_at, width, height, tallest):
    page = look_at("/audit?kind=all", (width, height))
    expect(page.locator(".st-key-audit summary")).to_have_count(len(CLAIMS))
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollHeight") <= tallest
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for row in page.locator(".st-key-audit .statement").all():
        assert row.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    # On a phone conditions that are not of an inexact statement go on in its line.
    apart = "" if width > 480 else ".inexact "
    beside, below = page.locator(f".st-key-audit {apart}.condition:visible").evaluate_all(
        """all => all
          .map((e) => [e, e.previousElementSibling].map((each) => each.getBoundingClientRect()))
          .reduce(([beside, below], [own, statement]) => [beside + (own.left >= statement.right),
            below + (own.top >= statement.bottom)], [0, 0])"""
    )
    told = sum(bool(claim.condition or claim.repair) for claim in CLAIMS.values())
    wrong = sum(claim.kind == PAPER_SAYS and claim.expected == FAILS for claim in CLAIMS.values())
    assert page.locator(".st-key-audit .condition:visible").count() == told
    assert (beside, below) == ((told, 0) if width > 480 else (0, wrong))


@pytest.mark.exhaustive
def test_statements_are_larger_on_a_wide_screen(look_at):
    page = look_at("/audit", (1920, 1080))
    row = page.locator(".st-key-audit .statement").last
    assert row.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 18


@pytest.mark.exhaustive
def test_details_of_a_statement_are_unfolded_by_keys(shown, axe):
    row = shown.locator('.st-key-audit [data-claim="dataset_rescaling"]')
    expect(row.get_by_text("True of batch and layer norm")).to_be_visible()
    expect(row.get_by_text("weight norm no")).to_be_hidden()
    row.locator("summary").press("Enter")
    expect(row.get_by_text("weight norm no")).to_be_visible()
    assert axe(shown) == []
    row.locator("summary").press("Enter")


@pytest.mark.exhaustive
def test_link_leads_to_the_state_that_shows_it(audit, wait_settled):
    audit.locator('[data-claim="dataset_rescaling"] summary').click()
    audit.locator('.st-key-audit a[data-key="dataset_rescaling"]').click()
    wait_settled(audit)
    assert urlsplit(address(audit)).path == "/invariance"
    assert query(audit) == {"cell": ["weight.dataset_rescaling"]}
    expect(audit.locator('[aria-pressed="true"]')).to_have_attribute(
        "data-cell", "weight.dataset_rescaling"
    )


@pytest.mark.exhaustive
def test_link_may_be_opened_by_its_address(look_at, open_page, wait_settled):
    """Negative control of the click: what a new tab or a copied link opens is the same state."""
    link = look_at("/audit?kind=all").locator('.st-key-audit a[data-key="frozen"]')
    other = open_page()
    other.goto(link.evaluate("link => link.href"))
    wait_settled(other)
    assert urlsplit(address(other)).path == "/invariance"
    assert query(other) == {"statistics": ["frozen"]}


@pytest.mark.exhaustive
def test_filter_is_in_the_url_and_back(audit, wait_settled):
    audit.get_by_role("radio", name="do not").click()
    wait_settled(audit)
    assert query(audit) == {"verdict": ["fails"]}
    said = [claim for claim in CLAIMS.values() if claim.kind == PAPER_SAYS]
    failing = [claim for claim in said if claim.expected == FAILS]
    expect(audit.locator(".st-key-audit .verdict")).to_have_count(len(failing))
    audit.get_by_role("button", name="Reset").click()
    wait_settled(audit)
    expect(audit.locator(".st-key-audit .verdict")).to_have_count(len(said))


@pytest.mark.exhaustive
def test_report_opens_by_itself_offline(shown, open_file, tmp_path):
    file = download(shown, "HTML", tmp_path)
    assert file.name == "normgeo-audit.html"
    page = open_file(file)
    expect(page.get_by_role("heading", level=1)).to_have_text("The paper, checked")
    expect(page.locator(".verdict")).to_have_count(len(CLAIMS))
    link = page.locator('a[data-key="frozen"]').get_attribute("href")
    base = urlsplit(address(shown))
    assert link == f"{base.scheme}://{base.netloc}/invariance?statistics=frozen"
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.exhaustive
def test_report_is_printed_as_pdf(shown, tmp_path):
    content = download(shown, "PDF", tmp_path).read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")
    assert content.count(b"/Type /Page\n") > 3


@pytest.mark.exhaustive
def test_records_are_taken_away_as_json(shown, tmp_path):
    records = json.loads(download(shown, "JSON", tmp_path).read_text("utf-8"))
    assert [record["key"] for record in records] == list(CLAIMS)
    assert [record["key"] for record in records if not record["as_expected"]] == []
    for record in records:
        found = [*record["measured"].values(), *record["ranges"].values()]
        assert record["measured"], record["key"]
        assert None not in found, record["key"]
