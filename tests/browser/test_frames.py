"""Frames of every picture: after each move what is shown equals a fresh drawing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest
from playwright.sync_api import Page, expect

from normgeo import pictures
from normgeo.pictures import PICTURES
from normgeo.pictures.style.export import write
from normgeo.pictures.style.player import for_script
from normgeo.settings import Settings

MOST = 3  # frames that are tried, of a picture with more: its ends, and one between

FRAMED = (
    *("contrast", "averages", "table_1", "counterexamples", "rays"),
    *("effect", "where_z_lives", "turn", "descent", "axes", "recurrence", "placement", "walk"),
    *("equal_kl", "order", "reader", "skip_thoughts", "draw", "handwriting", "mnist"),
    "convolution",
)

# Settings at which a picture is small, and still has all its parts.
QUICK: dict[str, dict[str, Any]] = {
    "descent": {"dataset": "wine", "steps": 12},
    "recurrence": {"length": 8},
    "equal_kl": {"dataset": "wine", "method": "layer"},
}

# Shapes, words, traces and legend as they are drawn: attributes in one order, without groups that
# hold nothing and names that hold the number of a plot.
DRAWN = """plot => [...plot.querySelectorAll('.main-svg')].map(svg => {
    const copy = svg.cloneNode(true);
    copy.querySelectorAll('defs, .hoverlayer').forEach(e => e.remove());
    const words = e => {
        const inside = [...e.children].map(words).join('');
        if (e.tagName === 'g' && inside === '') {
            return '';
        }
        const named = /^(id|data-|clip-path|class)/;
        const names = e.getAttributeNames().filter(name => !named.test(name));
        const values = names.sort().map(name => `${name}=${e.getAttribute(name)}`);
        const own = e.children.length ? '' : e.textContent;
        return `<${e.tagName} ${values.join(' ')}>${own}${inside}\\n`;
    };
    return words(copy);
}).join('')"""

# Every frame drawn fresh, then a walk that takes each way between two.
WALK = f"""async places => {{
    const drawn = {DRAWN};
    const [player] = window.framePlayers.values();
    player.plot.removeAllListeners('plotly_afterplot');
    const fresh = {{}};
    for (const place of places) {{
        player.place = place;
        await window.Plotly.react(player.plot, [], {{}}); // nothing of what was there is left
        await player.draw();
        fresh[place] = drawn(player.plot);
    }}
    const wrong = [];
    let before = null;
    for (const from of places) {{
        const further = places.filter(to => to > from);
        for (const place of [from, ...further.flatMap(to => [to, from])]) {{
            player.place = place;
            await player.draw();
            if (drawn(player.plot) !== fresh[place]) {{
                wrong.push([before, place]);
            }}
            before = place;
        }}
    }}
    return [wrong, new Set(Object.values(fresh)).size];
}}"""


def over(original: Any, patch: Any) -> Any:
    """A second way to put a frame over a figure, beside that of the script."""
    if not isinstance(original, dict) or not isinstance(patch, dict) or "bdata" in patch:
        return patch
    merged = dict(original)
    for path, value in patch.items():
        key, _, rest = path.partition(".")
        merged[key] = over(merged.get(key, {}), {rest: value} if rest else value)
    return merged


def whole(figure: go.Figure, place: int) -> dict[str, Any]:
    """A figure with one of its frames over it, as data."""
    plain = json.loads(json.dumps(for_script(figure), default=lambda one: one.tolist()))
    frame = plain.pop("frames")[place]
    for index, patch in enumerate(frame.get("data", ())):
        trace = frame["traces"][index] if "traces" in frame else index
        plain["data"][trace] = over(plain["data"][trace], patch)
    plain["layout"] = over(plain["layout"], frame.get("layout", {}))
    meta = plain["layout"]["meta"]
    for form, words in frame["layout"].get("meta", {}).items():
        meta[form] |= words  # instead of those of the frame that opens
    del meta["steps"]["start"]
    return plain


@pytest.fixture(scope="module")
def moving() -> dict[str, go.Figure]:
    """The figures that have frames, by the name of the picture."""
    return {name: figure(name, Settings(**QUICK.get(name, {}))) for name in FRAMED}


def figure(name: str, settings: Settings) -> go.Figure:
    picture = PICTURES[name]
    return picture.figure(picture.compute(settings), "light")


def some(count: int) -> list[int]:
    if count <= MOST:
        return list(range(count))
    return sorted({round(place * (count - 1) / (MOST - 1)) for place in range(MOST)})


def test_all_that_have_frames_are_tried() -> None:
    files = (Path(pictures.__file__).parent).rglob("*_figure.py")
    moved = [file for file in files if "add_slider(" in file.read_text("utf-8")]
    assert len(moved) == len(FRAMED)


@pytest.mark.exhaustive
def test_from_each_frame_to_each_other_a_fresh_drawing_is_shown(
    moving: dict[str, go.Figure], open_file: Callable[[Path], Page], tmp_path: Path
) -> None:
    wrong = {}
    for name, drawn in moving.items():
        write(drawn, tmp_path / f"{name}.html")
        page = open_file(tmp_path / f"{name}.html")
        page.locator(".frames input").wait_for()
        places = some(len(drawn.frames))
        moves, different = page.evaluate(WALK, places)
        assert different > 1, f"the frames of {name} look alike"
        wrong |= {name: moves} if moves else {}
    assert wrong == {}


@pytest.mark.exhaustive
def test_a_frame_over_the_figure_is_the_figure_that_opens_at_it(
    moving: dict[str, go.Figure],
) -> None:
    """What a frame leaves out would stay as it is in the frame that the figure opens at."""
    names = {field.name for field in fields(Settings)}
    for name, drawn in moving.items():
        steps = for_script(drawn)["layout"]["meta"]["steps"]
        if steps["setting"] not in names:
            continue  # a run's steps, which no link opens at
        last = len(steps["values"]) - 1
        for place in (0, last):
            at = {**QUICK.get(name, {}), steps["setting"]: steps["values"][place]}
            fresh = figure(name, Settings.from_query(at)[0])
            assert for_script(fresh)["layout"]["meta"]["steps"]["start"] == place, name
            assert whole(drawn, place) == whole(fresh, place), name


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", ["/learning_rate", "/invariance", "/fisher"])
def test_figures_of_another_screen_are_drawn_and_then_rest(
    server: str, page: Page, wait_settled: Callable[[Page], None], path: str
) -> None:
    """Where page and player disagreed by a part of a pixel, each drew again what the other had."""
    page.goto(server + path)
    wait_settled(page)
    page.evaluate(
        """() => {
            for (const plot of document.querySelectorAll('.js-plotly-plot')) {
                plot.on('plotly_afterplot', () => window.drawings++);
            }
        }"""
    )
    for width, height in ((1920, 1080), (1366, 768), (844, 390)):
        page.evaluate("window.drawings = 0")
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function("window.drawings > 0")
        wait_settled(page)
        drawn = page.evaluate("window.drawings")
        page.wait_for_timeout(1000)
        assert page.evaluate("window.drawings") == drawn, (width, height)


PANELS = """() => {
    const [plot] = window.framePlayers.keys();
    const wrong = [], seen = [];
    for (const cover of plot.querySelectorAll('.nsewdrag')) {
        const [x, y] = cover.dataset.subplot.match(/[xy]\\d*/g);
        const drawn = plot._fullLayout;
        const [across, up] = [drawn[`xaxis${x.slice(1)}`], drawn[`yaxis${y.slice(1)}`]];
        if (across.type !== 'linear' || up.type !== 'linear') continue;
        const { pixels, values } = panelOf(plot, [x, y]);
        for (const share of [0, 0.3, 1]) {
            const at = [across, up].map(({ range: [a, b] }) => a + share * (b - a));
            const found = pixels(at), back = values(found);
            const expected = [across.c2p(at[0]), up.c2p(at[1])];
            const far = Math.max(...found.map((one, n) => Math.abs(one - expected[n])),
                ...back.map((one, n) => Math.abs(one - at[n])));
            seen.push(x + y);
            if (far > 0.01) wrong.push([x + y, found, expected]);
        }
    }
    return [seen.length, wrong];
}"""


@pytest.mark.exhaustive
def test_panels_stand_where_plotly_has_drawn_them(
    moving: dict[str, go.Figure], open_file: Callable[[Path], Page], tmp_path: Path
) -> None:
    """What is clicked and what is turned is found there: another plotly may draw it elsewhere."""
    for name in ("effect", "where_z_lives", "walk"):
        write(moving[name], tmp_path / f"{name}.html")
        page = open_file(tmp_path / f"{name}.html")
        page.locator(".main-svg").first.wait_for()
        seen, wrong = page.evaluate(PANELS)
        assert seen > 0
        assert wrong == [], name


def test_rest_of_a_slider_is_told_once_and_nothing_is_drawn_or_sent_again(
    server: str, page: Page, wait_settled: Callable[[Page], None]
) -> None:
    received: list[int] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda got: received.append(len(got))),
    )
    page.goto(f"{server}/learning_rate?method=layer")
    wait_settled(page)
    assert max(received) > 60_000, "the figure is sent once"
    received.clear()
    page.evaluate(
        """() => {
            window.drawings = 0;
            for (const plot of document.querySelectorAll('.js-plotly-plot')) {
                plot.on('plotly_afterplot', () => window.drawings++);
            }
        }"""
    )
    slider = page.locator(".st-key-figure_turn .frames input")
    slider.press("End")
    page.wait_for_function("location.search.includes('growth=16')")
    wait_settled(page)
    assert page.evaluate("window.drawings") == 1, "the frame itself"
    assert received, "the script has run"
    assert max(received) < 40_000
    words = page.locator("#alt_figure_turn").text_content()
    assert "16" in words
    expect(slider).to_have_attribute("aria-valuetext", re.compile(" 16$"))
