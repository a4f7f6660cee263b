"""The page Your network in Chromium: a row lights its neuron, keys do, nothing is cut."""

import re
from io import BytesIO
from time import monotonic

import numpy as np
import pytest
from playwright.sync_api import expect

from normgeo.checkpoints.examples import EXAMPLES
from tools.server import serving

from .conftest import APP, LONGEST, PHONE, address, patient

# Words of the figure that reach beyond its edges.
CUT = """() => {
    const plot = document.querySelector('.st-key-figure_trained_layer .js-plotly-plot');
    const edge = plot.getBoundingClientRect();
    return [...plot.querySelectorAll('text')]
        .map((one) => [one.textContent, one.getBoundingClientRect()])
        .filter(([, box]) => box.width && (box.right > edge.right + 1 || box.left < edge.left - 1))
        .map(([words]) => words);
}"""
LIT = ".st-key-figure_trained_layer .js-plotly-plot"


def lit(page, words):
    expect(page.locator(LIT).get_by_text(words, exact=True)).to_be_visible()


@pytest.mark.exhaustive
def test_number_typed_lights_its_neuron_and_stays_in_the_address(look_at, wait_settled):
    page = look_at("/your_network")
    lit(page, "neuron 11")
    expect(page.locator("p:not(.alt)", has_text="Neuron 11, frozen:")).to_be_visible()
    box = page.get_by_role("spinbutton", name="neuron")
    for typed in ("2", "0"):  # 0 is the default of other pages
        box.fill(typed)
        box.press("Enter")
        page.wait_for_url(f"**neuron={typed}*")
        wait_settled(page)
        lit(page, f"neuron {typed}")


@pytest.mark.exhaustive
def test_row_clicked_lights_its_neuron(look_at, wait_settled):
    page = look_at("/your_network")
    table = page.get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    table.click(position={"x": 15, "y": 35 * 3 + 17})  # the head, and three rows
    page.wait_for_url("**neuron=2*")
    wait_settled(page)
    lit(page, "neuron 2")


@pytest.mark.exhaustive
def test_row_clicked_lights_its_block_of_the_run(look_at, wait_settled):
    page = look_at("/your_network?tab=training")
    table = page.locator(".st-key-blocks_table").get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    for row, query in ((5, "**block=5*"), (1, "**block=1*")):
        table.click(position={"x": 15, "y": 35 * (row + 1) + 17})
        page.wait_for_url(query)
        wait_settled(page)
        figure = page.locator(".st-key-figure_training_run .js-plotly-plot")
        expect(figure.get_by_text(f"W[{row}]", exact=True)).to_be_visible()
        expect(page.get_by_role("combobox", name="block")).to_be_visible()


@pytest.mark.exhaustive
@pytest.mark.parametrize("layer", ["batch", "layer", "pre_norm"])
def test_no_word_of_the_figure_is_cut(look_at, layer):
    for screen in ((1280, 720), PHONE):
        page = look_at(f"/your_network?layer={layer}&neuron=11", screen)
        page.locator(LIT).get_by_text("neuron 11", exact=True).wait_for()
        assert page.evaluate(CUT) == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_file_given_is_drawn_and_its_roles_corrected(server, page, wait_settled, axe):
    page.goto(f"{server}/your_network?tab=own&rate=0.1")
    wait_settled(page)
    file = BytesIO()
    np.savez(file, strange=np.arange(1.0, 13.0).reshape(3, 4) ** 2, other=np.ones((3, 2)))
    content = {"name": "net.npz", "mimeType": "application/zip", "buffer": file.getvalue()}
    page.locator("input[type=file]").first.set_input_files(content)
    expect(page.get_by_text("none of their 2 tensors is known")).to_be_visible()
    wait_settled(page)
    table = page.get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    table.click(position={"x": box["width"] - 60, "y": 35 + 17})
    expect(table.locator("[role=gridcell][aria-selected=true]")).to_have_count(1)
    wait_settled(page)
    page.keyboard.press("Enter")
    expect(page.locator("#portal [role=combobox]")).to_be_focused()
    page.keyboard.type("weights W")
    expect(page.locator("#portal [role=option]")).to_have_text(["weights W"])
    page.keyboard.press("Enter")
    page.locator(LIT).wait_for()
    wait_settled(page)
    lit(page, "neuron 0")
    assert axe(page) == []
    assert "strange" not in address(page)
    page.get_by_role("button", name="Back to the layers that ship").click()
    expect(page.locator(LIT).get_by_text("1 of 12 neurons is frozen")).to_be_visible()


@pytest.mark.exhaustive
def test_row_clicked_opens_its_layer_of_those_that_ship(look_at, wait_settled):
    page = look_at("/your_network?tab=layers")
    table = page.locator(".st-key-layers_table").get_by_test_id("stDataFrame")
    for row, layer in ((1, "layer"), (2, "pre_norm")):
        table.scroll_into_view_if_needed()
        table.click(position={"x": 15, "y": 35 * (row + 1) + 17})
        page.wait_for_url(f"**layer={layer}*")
        wait_settled(page)
        expect(page.get_by_role("combobox", name="layer")).to_have_value(EXAMPLES[layer].title)


def test_row_clicked_opens_its_layer_of_a_checkpoint(server, page, wait_settled, axe):
    page.goto(f"{server}/your_network?tab=own&rate=0.1")
    wait_settled(page)
    file = BytesIO()
    np.savez(file, **{f"fc{i}.weight": np.arange(1.0, 7 + 2 * i).reshape(-1, 2) for i in range(4)})
    content = {"name": "net.npz", "mimeType": "application/zip", "buffer": file.getvalue()}
    page.locator("input[type=file]").first.set_input_files(content)
    page.get_by_role("combobox", name="layer").wait_for()
    page.get_by_role("tab", name="All layers").click()
    table = page.locator(".st-key-layers_table").get_by_test_id("stDataFrame")
    table.wait_for()
    wait_settled(page)
    table.scroll_into_view_if_needed()
    table.click(position={"x": 15, "y": 35 * 3 + 17})  # the head, and three rows
    expect(page.get_by_role("combobox", name="layer")).to_have_value("fc2.weight")
    wait_settled(page)
    assert axe(page) == []


MARKS = "table.tensors button"


@pytest.mark.exhaustive
@pytest.mark.parametrize("network", ["decoder", "resnet_18"])
def test_each_mark_that_is_clicked_tells_of_its_row_and_stays_in_the_address(
    look_at, wait_settled, network
):
    page = look_at(f"/your_network?subject=network&network={network}")
    marks = page.locator(MARKS)
    every = range(0, marks.count(), 11)
    for number in [*every, 1]:  # the last one is selected already in the beginning
        mark = marks.nth(number)
        name, word = re.fullmatch(r"([^,]+), .*: (.*)", mark.get_attribute("title")).groups()
        mark.click()
        expect(page.locator("#alt_figure_measured_network")).to_contain_text(
            re.compile(rf"`{re.escape(name)}`, [^:]*: {word}\.")
        )
        expect(mark).to_have_attribute("aria-pressed", "true")
    wait_settled(page)


@pytest.mark.exhaustive
def test_words_over_a_block_are_seen_whole_on_a_phone(look_at):
    phone = look_at("/your_network?subject=network&network=transformer", PHONE)
    words = phone.locator("tr.over .words")
    assert words.count() >= 2
    for one in words.all():
        box = one.bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
        assert one.evaluate("each => each.scrollWidth <= each.clientWidth")


@pytest.mark.exhaustive
def test_keys_go_from_mark_to_mark_past_the_headings_of_blocks(look_at):
    page = look_at("/your_network?subject=network&network=transformer")
    focused = "[...document.querySelectorAll('*')].map((e) => e.shadowRoot?.activeElement)"
    page.locator(MARKS).first.focus()
    seen = []
    for _ in range(3):
        page.keyboard.press("ArrowDown")
        seen.append(page.evaluate(f"({focused}.find(Boolean) ?? document.activeElement).title"))
    names = [title.split(",")[0] for title in seen]
    assert names == ["position.weight", *(f"blocks.0.attn.{x}_proj.weight" for x in "qk")]


# Holds an upload of 1,000 bytes where it is asked to, and tells what all sessions hold, and this.
HOLDS = f"""
import sys
sys.path.insert(0, {str(APP.parent)!r})

import streamlit as st
from normgeo.ui import presence
from normgeo.ui.your_network.files import files, hold, in_memory

if "hold" in st.query_params and "held" not in st.session_state:
    st.session_state.held = hold("weights", [("net.npz", bytes(1000))])
presence.stay()
st.write(in_memory(), "bytes, here", files().size)
st.button("Look")
"""


@pytest.mark.exhaustive
def test_uploads_of_a_closed_session_are_let_go_and_of_one_that_came_back_are_not(
    browser, tmp_path
):
    """A connection that is lost and found again starts no run: its session looks as if left."""
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit/config.toml").write_text("[server]\ndisconnectedSessionTTL = 12\n")
    (tmp_path / "holds.py").write_text(HOLDS)
    sockets = []
    with serving(tmp_path / "holds.py", tmp_path / "log.txt") as url:
        left, back, other = (patient(browser).new_page() for _ in range(3))
        back.route_web_socket(
            "**/stream*", lambda one: sockets.append((one, one.connect_to_server()))
        )
        for page, held in ((left, 1000), (back, 2000), (other, 2000)):
            page.goto(url if page is other else f"{url}/?hold=1")
            page.get_by_text(f"{held} bytes").wait_for()
        for end in sockets[0]:
            end.close()
        while len(sockets) == 1:
            back.wait_for_timeout(20)
        left.context.close()
        for page, shown in ((other, "1000 bytes, here 0"), (back, "1000 bytes, here 1000")):
            until = monotonic() + LONGEST / 1000
            while page.inner_text("p >> nth=0") != shown and monotonic() < until:
                page.get_by_role("button", name="Look").click()
                page.wait_for_timeout(500)
            assert page.inner_text("p >> nth=0") == shown
        for page in (back, other):
            page.context.close()
