"""Home in a browser."""

import itertools

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from normgeo.normalizers.averages import averages, worked
from normgeo.normalizers.example import EXAMPLE_W, EXAMPLE_X, written
from normgeo.pictures.home.arithmetic import arithmetic
from normgeo.ui.home.linked_example import METHODS

from .conftest import address, query

# Types into the fields of the example.
TYPE = """(example, rows) => {
    for (const field of example.querySelectorAll('input')) {
        const { kind, n, h, d } = field.at;
        field.focus();
        field.value = kind === 'x' ? rows[n][d] : rows[3 + h][d];
        field.dispatchEvent(new Event('input', { bubbles: true }));
    }
}"""
# What it shows.
READ = """example => {
    const shown = (part) => [...part.querySelectorAll('.z')].map((z) => z.textContent);
    return {
        z: [...example.querySelectorAll('.method')].map(shown),
        a: [...example.querySelectorAll('.a')].map((a) => a.textContent),
        lines: [...example.querySelectorAll('.lines')].map((lines) =>
            [...lines.children].map((line) => line.textContent)),
    };
}"""


def number(words: str) -> float:
    return float(words.replace("−", "-").replace(",", ""))


def settled(page: Page, address: str, wait_settled) -> Page:
    page.goto(address)
    wait_settled(page)
    expect(page.get_by_label("X, case 0, feature 0")).to_be_visible()
    return page


def test_picture_table_and_ways_fit_a_projector(server, look_at):
    page = look_at("/")
    for key, least in (("example", 600), ("ways", 600), ("table", 720)):
        box = page.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= least, "600: with a browser's own bars"
        assert box["x"] + box["width"] <= 1280
    for way in ("10-minute tour", "45-minute lecture", "Explore"):
        expect(page.get_by_role("button", name=way)).to_be_visible()


def test_numbers_follow_what_is_typed_and_are_those_of_the_library(server, page, wait_settled):
    settled(page, server, wait_settled)
    rng = np.random.default_rng(0)
    drawn = [rng.integers(low, -low + 1, (6, 3)) for low in (-9, -3, -99)]
    flat = np.array([[1, 2, 0], [1, 2, 0], [1, 2, 0], [0, 0, 0], [2, 1, 1], [2, 1, 1]])
    for rows in (np.concatenate((EXAMPLE_X, EXAMPLE_W)), *drawn, flat):
        example = page.locator(".example")
        example.evaluate(TYPE, rows.tolist())
        wait_settled(page)
        expect(example).not_to_have_attribute("aria-busy", "true")
        seen = example.evaluate(READ)
        X, W = np.split(rows, 2)
        A = X @ W.T
        assert list(map(number, seen["a"])) == A.ravel().tolist()
        # The last field that was typed into is w of neuron 2: its place is that of the arithmetic.
        place = int(query(page)["place"][0][0]), 2
        for method, zs, lines in zip(METHODS, seen["z"], seen["lines"], strict=True):
            (average,) = averages({"": method}, W, X, place).values()
            assert lines == arithmetic(worked(average, W, X, place))
            if rows is flat:
                hidden = {
                    "batch norm": 9,
                    "layer norm": 0,
                    "weight norm": 3,
                    "RMS norm": 0,
                }
                assert zs.count("–") == hidden[method.title]
                continue
            z = method.normalize(W.astype(float), X.astype(float)).z
            assert list(map(number, zs)) == pytest.approx(z.ravel().tolist(), rel=0.006, abs=1e-9)


def test_what_lights_up_is_what_moves_with_an_entry(look_at):
    """Told by the library: a random step of one entry of X or W."""
    page = look_at("/")
    rng = np.random.default_rng(1)
    X, W = rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    for label, at in (("X, case 2, feature 0", (2, 0)), ("W, neuron 0, feature 1", (0, 1))):
        page.get_by_label(label).focus()
        lit = page.locator(".example .method").evaluate_all(
            "all => all.map(m => [...m.querySelectorAll('.z')].map(z => z.matches('.lit')))"
        )
        for method, found in zip(METHODS, lit, strict=True):
            moved = [X.copy(), W.copy()]
            moved[label.startswith("W")][at] += 1
            before, after = (
                method.normalize(weights, inputs).z for inputs, weights in ((X, W), moved)
            )
            assert found == (~np.isclose(before, after)).ravel().tolist(), (label, method.title)
    page.get_by_label("a of case 0, neuron 2").hover()
    lit = page.locator(".example .lit").evaluate_all(
        "all => all.map(e => e.ariaLabel ?? e.getAttribute('aria-label'))"
    )
    assert {"X, case 0, feature 1", "W, neuron 2, feature 1"} <= set(lit)
    assert not any("case 1, feature" in label or "neuron 1, feature" in label for label in lit)
    assert sum(", z of case 0, neuron 2" in label for label in lit) == len(METHODS)


def test_address_gives_the_same_integers_back(server, page, wait_settled):
    settled(page, server, wait_settled)
    page.get_by_label("X, case 0, feature 2").fill("-7")
    X, W = EXAMPLE_X.copy(), EXAMPLE_W
    X[0, 2] = -7
    wait_settled(page)
    assert query(page) == {"example": [written(X, W)], "place": ["0.1"]}
    page.get_by_label("a of case 1, neuron 1").focus()
    wait_settled(page)
    assert query(page) == {"example": [written(X, W)]}, "the place that is the default"
    expect(page.locator(".st-key-figure_averages").get_by_text("−1").first).to_be_visible()
    wait_settled(page)
    page.reload()
    wait_settled(page)
    expect(page.get_by_label("X, case 0, feature 2")).to_have_value("−7")
    assert query(page) == {"example": [written(X, W)]}
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(page.get_by_label("X, case 0, feature 2")).to_have_value("0")
    assert query(page) == {}


@pytest.mark.parametrize("typed", ["1e99", "abc", "", "-", "100", "1.5", "<b>3</b>"])
def test_a_bad_entry_gets_one_sentence_and_changes_nothing(look_at, typed):
    page = look_at("/?example=1.2.0_0.3.0_2.1.3_0.1.0_2.2.1_1.0.4")
    field = page.get_by_label("X, case 1, feature 1")
    before = page.locator(".zs").all_inner_texts()
    field.fill(typed)
    field.press("Enter")
    said = page.locator(".example [role=status]")
    expect(said).to_have_text(
        f"An entry is a whole number from −99 to 99, not “{typed}”; 3 stays in use."
    )
    assert page.locator(".zs").all_inner_texts() == before
    expect(field).to_have_value("3")
    field.fill("3")
    expect(said).to_have_text("")


def test_keyboard_alone_reaches_every_number(look_at):
    page = look_at("/")
    page.get_by_label("X, case 0, feature 0").focus()
    focused = (
        "() => { let e = document.activeElement; while (e.shadowRoot?.activeElement) "
        "e = e.shadowRoot.activeElement; return e.ariaLabel; }"
    )
    seen = [page.evaluate(focused)]
    for _ in range(7):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(focused))
    starts = ("X,", "W,", "a of", "batch norm, μ", *(f"{m.title}, z" for m in METHODS))
    for label, start in zip(seen, starts, strict=True):
        assert label.startswith(start), seen
    page.get_by_label("X, case 0, feature 0").focus()
    for key, label in (
        ("ArrowRight", "X, case 0, feature 1"),
        ("ArrowRight", "X, case 0, feature 2"),
        ("ArrowRight", "a of case 0, neuron 0: 2"),
        ("ArrowUp", "W, neuron 0, feature 2"),
        ("ArrowUp", "W, neuron 0, feature 1"),
        ("ArrowDown", "W, neuron 0, feature 2"),
        ("ArrowDown", "a of case 0, neuron 0: 2"),
        ("ArrowDown", "a of case 1, neuron 0: 3"),
        ("ArrowDown", "a of case 2, neuron 0: 1"),
        ("ArrowDown", "batch norm, μ of neuron 0: 2"),
    ):
        page.keyboard.press(key)
        assert page.evaluate(focused) == label


def test_a_drag_destroys_nothing(look_at):
    page = look_at("/")
    for part in (".st-key-example", ".st-key-figure_averages"):
        place = page.locator(part)
        place.scroll_into_view_if_needed()
        page.mouse.move(0, 0)  # what is pointed at lights up
        before = place.locator("svg, .scheme").all_inner_texts()
        ranges = (
            "() => Object.entries(document.querySelector('.js-plotly-plot').layout)"
            ".filter(([name]) => /axis/.test(name)).map(([, axis]) => axis.range)"
        )
        shown = page.evaluate(ranges)
        box = place.bounding_box()
        page.mouse.move(box["x"] + 100, box["y"] + 100)
        page.mouse.down()
        page.mouse.move(box["x"] + 260, box["y"] + 220, steps=4)
        page.mouse.up()
        page.mouse.dblclick(box["x"] + 120, box["y"] + 120)
        page.mouse.move(0, 0)
        assert place.locator("svg, .scheme").all_inner_texts() == before
        assert page.evaluate(ranges) == shown


@pytest.mark.exhaustive
def test_example_stacks_on_a_phone(server, phone, wait_settled):
    settled(phone, server, wait_settled)
    boxes = [phone.locator(part).bounding_box() for part in (".scheme", ".results", ".notes")]
    for box in boxes:
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    for above, below in itertools.pairwise(sorted(boxes, key=lambda box: box["y"])):
        assert above["y"] + above["height"] <= below["y"] + 1
    sizes = phone.locator(".example *").evaluate_all(
        "all => all.filter(e => e.textContent && !e.children.length)"
        ".map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 14


def test_cell_of_the_table_leads_to_its_picture(server, page, wait_settled):
    page.goto(f"{server}/?dataset=iris")
    wait_settled(page)
    page.locator('[data-cell="weight.dataset_rescaling"]').click()
    page.wait_for_url("**/invariance?*")
    wait_settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "What may change while z stays the same?"
    )
    pressed = page.locator('[aria-pressed="true"]')
    expect(pressed).to_have_attribute("data-cell", "weight.dataset_rescaling")
    assert "dataset=iris" in address(page)


def test_stop_of_a_tour_is_a_click_away(server, page, wait_settled, axe):
    page.goto(server)
    wait_settled(page)
    page.get_by_role("button", name="10-minute tour").click()
    link = page.get_by_role("link", name="A “no” on the blackboard")
    expect(link).to_be_visible()
    assert axe(page) == []
    link.click()
    page.wait_for_url("**/invariance?tour=ten-minutes&stop=4")
    wait_settled(page)
    expect(page.get_by_role("tab", name="Blackboard")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".katex-display").first).to_be_in_viewport()
