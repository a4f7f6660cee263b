"""Exported files: static ones have their format's shape, HTML is drawn and slides offline."""

import asyncio
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from threading import Thread

import plotly.graph_objects as go
import psutil
import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import Page, expect

from normgeo.__main__ import main
from normgeo.pictures import PICTURES
from normgeo.pictures.style import export, static
from normgeo.pictures.style.annotations import note
from normgeo.pictures.style.export import BrowserMissing, to_bytes, write
from normgeo.pictures.style.player import STRIP
from normgeo.pictures.style.template import template
from normgeo.settings import Settings
from tests.pairwise import first
from tools.settled import still

from .conftest import LONGEST, shared
from .test_margins import LOOK_AT_FILE

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def figure() -> go.Figure:
    """The effect of a change, with its slider."""
    view = PICTURES["effect"]
    figure = view.figure(view.compute(Settings(delta=3)), "light")
    figure.update_layout(width=640, height=400 + STRIP)
    return figure


def size_of_png(content: bytes) -> tuple[int, int]:
    assert content[:16] == b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


TITLE, ALT = "Effect of a <change>", "z before → after, method under method & row under row."


def object_of_pdf(content: bytes, entry: str) -> str:
    """The object that an entry of the last trailer refers to, through the last of its tables."""
    starts = [int(start) for start in re.findall(rb"startxref\s+(\d+)", content)]
    trailers = re.findall(rb"trailer\s*<<(.*?)>>", content, re.S)
    assert len(starts) == len(trailers)
    assert re.search(rb"/Prev (\d+)", trailers[-1]).group(1) == str(starts[0]).encode()
    number = int(re.search(rf"/{entry} (\d+) 0 R".encode(), trailers[-1]).group(1))
    for start in reversed(starts):
        lines = content[start:].splitlines()
        assert lines[0] == b"xref"
        first, count = map(int, lines[1].split())
        if first <= number < first + count:
            place = int(lines[2 + number - first].split()[0])
            assert content[place:].startswith(f"{number} 0 obj".encode())
            return content[place : content.index(b"endobj", place)].decode("latin-1")
    raise AssertionError(f"object {number} is in no table")


def words_of_pdf(entry: str, words: str) -> str:
    return f"/{entry} <FEFF{words.encode('utf-16-be').hex().upper()}>"


def check(format: str, content: bytes) -> None:
    if format == "png":
        assert size_of_png(content) == (1280, 800)
        with Image.open(BytesIO(content)) as image:
            image.load()
            assert image.text == {"Title": TITLE, "Description": ALT}
    elif format == "svg":
        root = ET.fromstring(content)
        assert root.tag == f"{SVG}svg"
        assert root.get("role") == "img"
        for attribute, tag, expected in (
            ("aria-labelledby", "title", TITLE),
            ("aria-describedby", "desc", ALT),
        ):
            (named,) = root.findall(f"{SVG}{tag}")
            assert (named.get("id"), named.text) == (root.get(attribute), expected)
        assert (root.get("width"), root.get("height")) == ("640", "400")
        words = " ".join("".join(text.itertext()) for text in root.iter(f"{SVG}text"))
        assert "layer norm" in words, "text stays text"
        assert "not invariant" in words
    elif format == "gif":
        with Image.open(BytesIO(content)) as moving:
            assert moving.size == (640, 400)
            there, back = moving.n_frames // 2 + 1, moving.n_frames // 2 - 1
            assert there - back == 2, "there and back, each end once"
            assert moving.info["comment"].decode() == ALT
            drawn = []
            for place in range(moving.n_frames):
                moving.seek(place)
                drawn.append(moving.convert("RGB").tobytes())
        assert len(set(drawn[:there])) == there, "each frame is another picture"
        assert drawn[there:] == drawn[there - 2 : 0 : -1]
    else:
        assert content.startswith(b"%PDF-")
        assert content.rstrip().endswith(b"%%EOF")
        assert content.count(b"/Type /Page\n") == 1
        assert "/Type /Catalog" in object_of_pdf(content, "Root")
        about = object_of_pdf(content, "Info")
        assert words_of_pdf("Title", TITLE) in about
        assert words_of_pdf("Subject", ALT) in about


@pytest.mark.exhaustive
@pytest.mark.parametrize("format", export.STATIC)
def test_static_files_have_the_shape_of_their_format(
    format: str, figure: go.Figure, tmp_path: Path
) -> None:
    target = tmp_path / f"effect.{format}"
    write(figure, target, title=TITLE, alt=ALT)
    check(format, target.read_bytes())
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.exhaustive
def test_one_browser_draws_several_figures(figure: go.Figure) -> None:
    with export.browser() as draw:
        for format in export.STATIC:
            check(format, to_bytes(figure, format, title=TITLE, alt=ALT, draw=draw))


WORDS = "<b>Widely known</b> illustrations of a million norms"

# How wide a page draws the words, in its own font, in pixels.
WIDTH_THERE = """async () => {
    const [bold, rest] = ["Widely known", " illustrations of a million norms"];
    const pen = document.createElement("canvas").getContext("2d");
    const wide = (font, words) => { pen.font = font; return pen.measureText(words).width; };
    await Promise.all(["", "bold "].map(one => document.fonts.load(`${one}20px "Source Sans"`)));
    return wide('bold 20px "Source Sans"', bold) + wide('20px "Source Sans"', rest);
}"""


@pytest.mark.exhaustive
def test_exported_words_are_as_wide_as_on_the_page(
    server: str, page: Page, open_file: Callable[[Path], Page], tmp_path: Path
) -> None:
    """Files hold the font: an image of SVG, and another machine, know none of the page's."""
    page.goto(server)
    page.locator(".main-svg").first.wait_for()
    wide = page.evaluate(WIDTH_THERE)
    hidden = {"visible": False}
    figure = go.Figure(layout={"height": 200, "template": template("light")})
    figure.update_layout(xaxis=hidden, yaxis=hidden, annotations=[note(WORDS, font={"size": 20})])
    with export.browser() as draw:
        svg, png, pdf = (to_bytes(figure, format, draw=draw) for format in ("svg", "png", "pdf"))
    with Image.open(BytesIO(png)) as image:
        left, _, right, _ = ImageChops.invert(image.convert("L")).getbbox()
    assert (right - left) / 2 == pytest.approx(wide, abs=3)
    names = {name.decode() for name in re.findall(rb"/FontName /\w+\+(\w+)", pdf)}
    assert all(name.startswith("SourceSans") for name in names)
    assert len(names) >= 1
    (tmp_path / "words.svg").write_bytes(svg)
    drawn = open_file(tmp_path / "words.svg").locator("text", has_text="Widely")
    assert drawn.evaluate("text => text.getComputedTextLength()") == pytest.approx(wide, abs=1)


def test_png_of_the_visitor_is_that_of_the_server(
    server: str, page: Page, wait_settled: Callable[[Page], None]
) -> None:
    page.goto(f"{server}/learning_rate")
    wait_settled(page)
    with page.expect_download() as saved:
        shared(page).locator(".st-key-turn_png button").click()
    picture = PICTURES["turn"]
    made = to_bytes(picture.figure(picture.compute(Settings()), "light"), "png")
    with Image.open(saved.value.path()) as there, Image.open(BytesIO(made)) as here:
        assert there.size == here.size
        apart = ImageChops.difference(there.convert("L"), here.convert("L"))
        assert ImageStat.Stat(apart).mean[0] < 0.1


@pytest.mark.exhaustive
def test_threads_and_event_loops_may_export(figure: go.Figure) -> None:
    """Streamlit runs its callbacks in threads, and some hosts inside an event loop."""

    async def inside_a_loop() -> bytes:
        return to_bytes(figure, "png", title=TITLE, alt=ALT)

    # A loop of its own needs a thread of its own: Playwright's may already run in this one.
    with ThreadPoolExecutor(3) as pool:
        drawn = [pool.submit(to_bytes, figure, "png", title=TITLE, alt=ALT) for _ in range(2)]
        drawn.append(pool.submit(lambda: asyncio.run(inside_a_loop())))
        for content in drawn:
            check("png", content.result())


@pytest.mark.exhaustive
def test_a_browser_that_does_not_say_that_it_closes_keeps_no_export_waiting(
    figure: go.Figure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have ended before it could answer, and the next export waits for its turn."""
    monkeypatch.setattr(static, "CLOSING", 1)
    before = set(psutil.Process().children(recursive=True))
    opened: set[psutil.Process] = set()

    def export_with_a_browser_that_is_suspended() -> None:
        with static.browser() as draw:
            assert draw(figure, "png")
            opened.update(set(psutil.Process().children(recursive=True)) - before)
            for process in opened:
                process.suspend()

    exporting = Thread(target=export_with_a_browser_that_is_suspended, daemon=True)
    exporting.start()
    exporting.join(LONGEST / 1000)
    for process in opened:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    assert opened
    assert not exporting.is_alive()
    check("png", to_bytes(figure, "png", title=TITLE, alt=ALT))


def test_a_browser_that_does_not_start_is_one_sentence(
    figure: go.Figure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static, "find_browser", lambda: "/bin/true")
    sentence = (
        r"^The browser /bin/true does not start\. Set BROWSER_PATH to another one, or choose "
        r"HTML\.$"
    )
    with pytest.raises(BrowserMissing, match=sentence):
        to_bytes(figure, "png")


@pytest.mark.parametrize("name", first(PICTURES, 4))
def test_every_view_rendered_at_its_defaults_is_drawn_offline(
    name: str, open_file: Callable[[Path], Page], tmp_path: Path
) -> None:
    picture, file, numbers = PICTURES[name], tmp_path / "a.html", tmp_path / "a.json"
    command = ["render", name, "theme=dark", f"--output={file}", f"--output={numbers}"]
    assert main(command) == 0
    assert json.loads(numbers.read_text("utf-8"))
    page = open_file(file)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    assert page.title() == picture.title
    named = page.get_by_role("figure", name=picture.title, exact=True)
    expect(named).to_have_accessible_description(re.compile(f"^{re.escape(picture.alt)}"))
    box = page.locator(".js-plotly-plot").bounding_box()
    assert box is not None
    assert box["width"] == pytest.approx(1280, abs=30)
    width = (1280, 382)[[*PICTURES].index(name) % 2]  # as it is open, or on a phone, in turn
    page.set_viewport_size({"width": width, "height": 720})
    still(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(LOOK_AT_FILE, width) == []


def test_the_slider_of_an_exported_page_works_offline(
    open_file: Callable[[Path], Page], tmp_path: Path
) -> None:
    view = PICTURES["effect"]
    write(view.figure(view.compute(Settings(delta=3)), "light"), tmp_path / "a.html")
    page = open_file(tmp_path / "a.html")
    page.locator(".frames input").wait_for()
    label = page.locator(".frames output").first
    assert label.text_content() == "factor δ = 3", "it opens where it was made, and does not play"
    image = "document.querySelector('.js-plotly-plot .main-svg').innerHTML"
    before = page.evaluate(image)
    page.locator(".frames input").click(position={"x": 2, "y": 14})
    expect(label).to_have_text("factor δ = −3")
    # The label moves first, the picture with the next frame.
    page.wait_for_function(f"before => {image} !== before", arg=before)


def test_the_slider_of_an_exported_page_stands_at_the_foot_of_its_figure_or_of_a_phone(
    open_file: Callable[[Path], Page], tmp_path: Path
) -> None:
    """On a phone it stays on the screen while the figure does, and ends beneath it."""
    view = PICTURES["effect"]
    write(view.figure(view.compute(Settings(delta=3)), "light"), tmp_path / "effect.html")
    page = open_file(tmp_path / "effect.html")
    for width, height in ((1280, 720), (390, 500)):
        page.set_viewport_size({"width": width, "height": height})
        still(page)
        if width < 640:
            box = page.locator(".frames").bounding_box()
            assert box["y"] + box["height"] == pytest.approx(height), "the figure goes on below"
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
        figure, slider = (
            page.locator(part).bounding_box() for part in (".js-plotly-plot", ".frames")
        )
        assert figure["height"] > 300
        assert slider["y"] + slider["height"] == pytest.approx(figure["y"] + figure["height"])
        lowest = page.locator(".xtitle, .xtick").evaluate_all(
            "all => Math.max(...all.map(words => words.getBoundingClientRect().bottom))"
        )
        assert lowest <= slider["y"]
