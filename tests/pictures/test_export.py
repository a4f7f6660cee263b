"""Figures as files, as far as no browser is needed."""

import gc
import re
import stat
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import plotly.graph_objects as go
import plotly.io as pio
import pytest

from normgeo.base.progress import Progress
from normgeo.pictures import PICTURES
from normgeo.pictures.style import export, static
from normgeo.pictures.style.chart import Chart
from normgeo.pictures.style.described import described
from normgeo.pictures.style.export import BrowserMissing, format_of, to_bytes, write
from normgeo.pictures.style.player import add_slider, for_script
from normgeo.settings import Settings


@pytest.fixture
def figure() -> go.Figure:
    """Three points and two frames, under a title with marks."""
    figure = go.Figure(go.Scatter(x=[0, 1, 2], y=[1.0, 3.0, 2.0]))
    figure.update_layout(
        title="Norm <b>‖w‖</b> &lt; 2",
        height=400,
        template=go.layout.Template(layout={"paper_bgcolor": "#15181B"}),
    )
    frames = [go.Frame(name=str(i), data=[go.Scatter(y=[i, i, i])]) for i in (1, 2)]
    add_slider(figure, frames, start=1, prefix="n = ", theme="light", setting="neurons")
    return figure


class Page(HTMLParser):
    """What a browser would ask other hosts for, and the words it would show in its title bar."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.lang, self.title, self.fetched, self._inside = "", "", list[str](), ""
        self.scripts: list[str] = []
        self.figure: dict[str, str | None] = {}
        self.captions: dict[str, str] = {}
        self._caption = ""
        self.feed(content.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        given = dict(attrs)
        if tag == "figure":
            self.figure = given
        self._caption = (given.get("id") or "") if tag == "figcaption" else ""
        self.lang = self.lang or given.get("lang") or ""
        self.fetched += [given[name] or "" for name in ("src", "href") if name in given]

    def handle_data(self, data: str) -> None:
        if self._inside == "title":
            self.title += data
        if self._caption:
            self.captions[self._caption] = self.captions.get(self._caption, "") + data
        if self._inside == "script":
            self.scripts.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._caption = ""


def test_html_is_a_whole_page_that_asks_nobody_for_anything(figure: go.Figure) -> None:
    content = to_bytes(figure, "html", title='Angles & "turns"')
    assert content.startswith(b"<!DOCTYPE html>")
    page = Page(content)
    assert (page.lang, page.title, page.fetched) == ("en", 'Angles & "turns"', [])
    assert max(map(len, page.scripts)) > 3_000_000, "plotly is inside"
    assert b"background: #15181B" in content


def test_html_names_and_describes_the_figure(figure: go.Figure) -> None:
    page = Page(to_bytes(figure, "html", title='Angles & "turns"', alt="One <line> & two dots."))
    assert page.figure == {"aria-label": 'Angles & "turns"', "aria-describedby": "alt"}
    assert page.captions == {"alt": "One <line> & two dots."}
    assert Page(to_bytes(figure, "html", title="Angles")).captions == {"alt": "Angles"}


def test_html_takes_the_title_of_the_figure(figure: go.Figure) -> None:
    assert Page(to_bytes(figure, "html")).title == "Norm  ‖w‖  < 2"
    assert Page(to_bytes(go.Figure(), "html")).title == "normgeo"


def test_html_tells_settings_source_and_the_way_back(figure: go.Figure) -> None:
    about = ["Settings: data: Digits, ε: 0.1.", "Source: Section 5.1 & <Table 1>."]
    link = "http://127.0.0.1:8501/invariance?eps=0.1&delta=3"
    content = to_bytes(figure, "html", title="Angles", about=about, link=link).decode()
    assert "<h1>Angles</h1>" in content
    for line in about:
        assert f"<p>{escape(line)}</p>" in content
    assert f'<a href="{escape(link)}">Open it in normgeo</a>' in content
    below = to_bytes(figure, "html").decode().partition("</figure>")[2]
    assert "<a " not in below.partition("<script")[0]


def test_unknown_pdf_stays_as_it_is() -> None:
    """A browser of the future may write its cross-references in another form."""
    content = b"%PDF-2.0\n... startxref\n5\n%%EOF"
    assert described(content, "pdf", "Title", "Words.") == content


def test_html_does_not_play_by_itself(figure: go.Figure) -> None:
    _, player = Page(to_bytes(figure, "html")).scripts
    assert "new Player(" in player
    assert "Plotly.animate" not in player


def test_a_still_has_neither_slider_nor_frames_and_a_size(figure: go.Figure) -> None:
    still = static.still(figure)
    assert "frames" not in still
    assert "sliders" not in still["layout"]
    layout = still["layout"]
    assert (layout["width"], layout["height"], layout["margin"]["b"]) == (960, 400, 80)
    assert len(figure.frames) == 2, "the figure itself stays as it is"
    assert figure.layout.height > 400, "and keeps the strip of its slider"
    plain = static.still(go.Figure())["layout"]
    assert (plain["width"], plain["height"]) == (960, 540)
    small = static.still(go.Figure(layout={"width": 300, "height": 200}))["layout"]
    assert (small["width"], small["height"]) == (300, 200)


def test_script_gets_the_slider_and_axes_that_no_hand_moves(figure: go.Figure) -> None:
    layout = for_script(figure)["layout"]
    assert "sliders" not in layout
    assert layout["meta"]["height"] == figure.layout.height
    steps = layout["meta"]["steps"]
    assert (steps["labels"], steps["values"], steps["start"]) == (["1", "2"], ["1", "2"], 1)
    assert (steps["prefix"], steps["setting"], steps["single"]) == ("n = ", "neurons", False)
    assert steps["buttons"]["play"] == "play"
    assert layout["dragmode"] is False
    assert layout["xaxis"]["fixedrange"] is layout["yaxis"]["fixedrange"] is True
    figure.update_layout(meta={"zoom": True})
    assert "dragmode" not in for_script(figure)["layout"]


def test_chart_of_a_page_is_written_once_and_is_nothing_to_collect(
    subtests: pytest.Subtests,
) -> None:
    """As objects the figures of a server took its collector of garbage two thirds of its time."""
    for name in ["turn", "where_z_lives", "walk"]:
        with subtests.test(name=name):
            picture = PICTURES[name]
            figure = picture.figure(picture.study.compute(Settings(), Progress()), "light")
            chart = Chart.of(figure)
            assert chart.text == pio.to_json(for_script(figure), validate=False)
            assert chart.slider == picture.study.slider
            assert len(chart.values) == len(chart.scales) == len(figure.frames)
            tracked, waiting = 0, [vars(chart)]
            while waiting:
                tracked += 1
                waiting += [one for one in gc.get_referents(waiting.pop()) if gc.is_tracked(one)]
            assert tracked < 300


def test_the_name_of_a_file_gives_its_format(subtests: pytest.Subtests) -> None:
    for name in ["a.html", "a.PNG", "folder/a.b.svg", "a.pdf"]:
        with subtests.test(name=name):
            assert format_of(name) == name.lower().rsplit(".")[-1]


def test_other_names_are_refused(subtests: pytest.Subtests) -> None:
    for name in ["a", "a.bmp", "html", "a.html.zip", ""]:
        with subtests.test(name=name):
            sentence = (
                f"A figure's file must end in one of .html, .png, .svg, .pdf, .gif; got {name!r}."
            )
            with pytest.raises(ValueError, match="^" + re.escape(sentence) + "$"):
                format_of(name)


def test_other_formats_are_refused(figure: go.Figure) -> None:
    with pytest.raises(
        ValueError, match=r"^`format` must be one of html, png, svg, pdf, gif; got 'bmp'\.$"
    ):
        to_bytes(figure, "bmp")


@pytest.mark.parametrize("format", export.STATIC)
def test_without_a_browser_static_formats_are_one_sentence(
    figure: go.Figure, format: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(static, "find_browser", lambda: None)
    sentence = (
        "PNG, SVG, PDF and GIF are drawn by a browser, and none was found: install Chromium "
        "or Google Chrome, set BROWSER_PATH to the one you have, or choose HTML."
    )
    with pytest.raises(BrowserMissing, match="^" + re.escape(sentence) + "$"):
        write(figure, tmp_path / f"a.{format}")
    assert list(tmp_path.iterdir()) == []
    write(figure, tmp_path / "a.html")


def test_files_are_written_in_place_of_old_ones(figure: go.Figure, tmp_path: Path) -> None:
    target = tmp_path / "a.html"
    target.write_text("old")
    write(figure, target)
    assert target.read_bytes().startswith(b"<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [target]
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)
