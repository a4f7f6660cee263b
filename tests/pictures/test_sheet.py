"""What a sheet sends of its forms, and where words stand that have little room."""

import re
from typing import Any

import plotly.graph_objects as go
import pytest

from normgeo.pictures import PICTURES
from normgeo.pictures.style.annotations import note, width
from normgeo.pictures.style.sheet import Band, Pair, Panel, Sheet, answer, drawn, marks
from normgeo.pictures.style.sheet.bands import EDGE, LINE
from normgeo.pictures.style.sheet.sheet import FORMS
from normgeo.pictures.style.template import SIZE
from normgeo.settings import Settings
from normgeo.tables.marks import shape
from tests.forms import on_a_phone, shown

AXIS: dict[str, Any] = {"range": [0, 1]}


def line(panel: str = "") -> go.Scatter:
    return go.Scatter(x=[0, 1], y=[0, 1], xaxis=f"x{panel}", yaxis=f"y{panel}", showlegend=False)


def colored_where_there_is_room(wide: float, high: float) -> list[dict[str, Any]]:
    place = {"xref": "x", "yref": "y", "font": {"size": 14, "color": "#ff0000"}, "xshift": 3}
    return [note("red", 0.5, 0.5, **place)] * (wide > 400)


def test_a_phone_shows_its_own_words_and_nothing_of_those_of_a_page() -> None:
    sheets = [
        Sheet(
            [answer(f"frame {n}")],
            rows=[[Panel(AXIS, AXIS, notes=colored_where_there_is_room)], [Panel(AXIS, AXIS, [n])]],
        )
        for n in ("one", "two", "three")
    ]
    figure, layouts = drawn(sheets, [line(), line("2")], "light")
    assert "red" in [one.text for one in figure.layout.annotations]
    for n, layout in zip(("one", "two", "three"), layouts, strict=True):
        frame = go.Frame(layout=layout)
        title, head = on_a_phone(figure, frame)
        assert title["text"] == f"<b>frame {n}</b>"
        assert (head["text"], head["xref"]) == (n, "x2 domain")
        edge = EDGE - figure.layout.meta["narrow"]["margin"]["l"]
        assert (head["font"].get("color"), head["xshift"]) == (None, edge), "where the answer is"
        assert head["xshift"] == title["xshift"]
        assert len(str(layout["meta"])) < 700


def test_words_over_panels_beside_each_other_on_a_phone_begin_where_these_do() -> None:
    pair = [Panel(AXIS, AXIS, [name]) for name in ("left", "right")]
    figure = Sheet([], rows=[pair], phone=[[0, 1]]).on([line(), line("2")], "light")
    assert [head.get("xshift", 0) for head in on_a_phone(figure)] == [0, 0]


def test_a_legend_stands_over_the_row_that_it_names_and_over_no_words() -> None:
    """Beneath what is above that row, and above the heads of its panels."""
    rows = [[Panel(AXIS, AXIS)], [Panel(AXIS, AXIS, [head]) for head in ("left", "right")]]
    curves = [line(), line("2"), line("3")]
    for name, curve in zip(("one", "two", "three"), curves, strict=True):
        curve.update(name=name, showlegend=name != "one")
    layout = Sheet([], rows=rows, legend_over=1).on(curves, "light").layout
    (upper, _), (_, lower) = layout.yaxis.domain, layout.yaxis2.domain
    free = (upper - lower) * (layout.height - layout.margin.t - layout.margin.b)
    up = (layout.legend.y - lower) * free / (upper - lower)
    heads = max(note.yshift for note in layout.annotations) + LINE * SIZE
    assert heads <= up, "over the heads"
    assert up + LINE * SIZE < free, "beneath the row above"
    phone = layout.meta["narrow"]
    assert phone["yaxis2"]["domain"][1] < phone["legend"]["y"] < phone["yaxis"]["domain"][0]


def test_no_table_is_wider_than_a_phone() -> None:
    rows = [("a sentence that is longer than a phone is wide, by far, and goes on", ("✓",))]
    table = marks("light", "What it ignores", [("pre", "#000000")], rows)
    figure = Sheet([], rows=[[Panel(AXIS, AXIS), table]]).on([line()], "light")
    places = [one["x"] for one in on_a_phone(figure)]
    assert len(places) == 2
    assert max(places) < 1


@pytest.mark.parametrize("anchor", ["left", "center"])
def test_words_at_the_end_of_an_axis_end_in_the_figure(anchor: str) -> None:
    words = "float32 overflow"
    end = note(words, 0.99, 0.5, xref="x", yref="y", xanchor=anchor)
    figure = Sheet([], rows=[[Panel(AXIS, AXIS, notes=[end])]]).on([line()], "light")
    (shown,) = on_a_phone(figure)
    margin = figure.layout.meta["narrow"]["margin"]
    paper = FORMS["narrow"].width - margin["l"] - margin["r"]
    right = 0.99 * paper + shown["xshift"] + width(words, SIZE) / (1 + (anchor == "center"))
    assert 0.9 * paper < right <= paper + margin["r"]


def test_in_a_hall_short_bands_stand_beside_each_other_and_long_ones_below() -> None:
    hall, page, room = FORMS["hall"], FORMS[""], 300
    name, verdict = Band(["batch norm"]), answer("not invariant", sign="✗")
    short, long = Pair(name, verdict), Pair(Band(["batch norm of all cases"] * 2), verdict)
    assert short.height(room, hall) == verdict.height(room, hall)
    for pair, form in ((short, page), (long, hall)):
        assert pair.height(room, form) == sum(band.height(room, form) for band in pair[:2])
    place = {"x": 0, "y": 1, "xref": "paper", "yref": "paper"}
    first, second, mark = short.drawn(room, hall, "light", **place)
    assert first["xshift"] + width("batch norm", SIZE) < mark["xanchor"] + second["xshift"]
    assert second["yshift"] >= first["yshift"]
    _, after_longer, _ = Pair(name, verdict, least=100).drawn(room, hall, "light", **place)
    assert after_longer["xshift"] - second["xshift"] == pytest.approx(100 - name.width(hall))


def test_words_over_panels_beside_each_other_begin_at_one_height() -> None:
    few = Panel(AXIS, AXIS, over=[Band(["first of few"])])
    many = Panel(AXIS, AXIS, over=[Band(["first of many"]), Band(["and another"])])
    layout = Sheet([], rows=[[few, many]]).on([line(), line("2")], "light").layout
    few_at, many_at = (one for one in layout.annotations if one.text.startswith("first"))
    assert (few_at.y, few_at.yanchor) == (many_at.y, many_at.yanchor)
    assert few_at.yshift == pytest.approx(many_at.yshift)


def test_heads_of_few_and_of_many_lines_begin_at_one_height() -> None:
    few, many = (Panel(AXIS, AXIS, [f"line {n}" for n in range(lines)]) for lines in (2, 4))
    layout = Sheet([], rows=[[few, many]]).on([line(), line("2")], "light").layout
    assert [head.yanchor for head in layout.annotations] == ["bottom"] * 2
    tops = [h.yshift + LINE * SIZE * len(h.text.split("<br>")) for h in layout.annotations]
    assert tops[0] == pytest.approx(tops[1])


def test_words_over_a_panel_keep_clear_of_it() -> None:
    figure = Sheet([], rows=[[Panel(AXIS, AXIS, over=[Band(["over"])])]]).on([line()], "light")
    (page,) = figure.layout.annotations
    assert (page.yanchor, page.yshift) == ("top", pytest.approx(LINE * SIZE + EDGE / 2))
    farther = {"0": {"yshift": pytest.approx(LINE * SIZE + 1.5 * EDGE)}}
    assert figure.layout.meta["hall"]["annotations"] == farther, "it is larger there"


def test_a_column_begins_below_its_own_head_where_it_has_more_panels_than_its_neighbor() -> None:
    two = tuple(Panel(AXIS, AXIS, ["line"]) for _ in range(2))
    one = Panel(AXIS, AXIS, [f"line {n}" for n in range(4)], high=(600, 230))
    traces = [line(number) for number in ("", "2", "3")]
    layout = Sheet([], rows=[[two, one]]).on(traces, "light").layout
    paper = layout.height - layout.margin.t - layout.margin.b
    tops = [axis.domain[1] * paper for axis in (layout.yaxis, layout.yaxis3)]
    assert tops[0] - tops[1] == pytest.approx(3 * LINE * SIZE, abs=1), "three lines"
    assert layout.yaxis2.domain[0] == pytest.approx(layout.yaxis3.domain[0]), "both end below"


def test_a_slide_leaves_out_panels_and_sentences_and_the_others_have_their_room() -> None:
    kept, other = Panel(AXIS, AXIS, ["kept"]), Panel(AXIS, AXIS, ["other"], [note("in it", 0, 0)])
    told = Band(["told on a page", "and this"])

    def slide_of(kept: Panel, other: Panel, told: Band) -> tuple[dict[str, Any], set[str]]:
        figure = Sheet([told], rows=[[other, kept]]).on([line(), line("2")], "light")
        slide = figure.layout.meta["slide"]
        words = [one.text for one in figure.layout.annotations]
        shown = {
            changed.get("text", words[int(at)] if int(at) < len(words) else "")
            for at in map(str, range(max(len(words), len(slide["annotations"]))))
            if (changed := slide["annotations"].get(at, {})).get("visible") is not False
        }
        assert {"told on a page<br>and this", "kept", "other", "in it"} == {*words}, "on a page"
        return slide, shown

    whole = Sheet([told], rows=[[other, kept]]).on([line(), line("2")], "light").layout.meta
    assert "slide" not in whole
    both = whole["hall"]["xaxis2"]["domain"]
    slide, shown = slide_of(kept, other._replace(on_slide=False), told._replace(on_slide=["brief"]))
    assert (slide["absent"], shown) == (["x"], {"brief", "kept"})
    assert (slide["xaxis"]["visible"], slide["yaxis"]["visible"]) == (False, False)
    assert slide["xaxis2"]["domain"] == [0, 1] != both
    assert "yaxis" not in slide["edges"]
    _, shown = slide_of(kept, other, told._replace(on_slide=()))
    assert shown == {"kept", "other", "in it"}


@pytest.mark.parametrize("size", [9.0, 19.0])
def test_a_mark_is_as_large_as_it_is_asked_to_be(size: float) -> None:
    """Its cross goes from 4 to 20 of a box of 24."""
    path = shape("✗", "light", size)["path"]
    reach = [float(one) for one in re.findall(r"-?[\d.]+", path)]
    assert max(reach) == -min(reach) == pytest.approx(size / 3, rel=1e-3)


@pytest.mark.parametrize("name", ["walk", "equal_kl", "turn", "recurrence", "placement"])
def test_slides_do_not_tell_what_was_computed(name: str) -> None:
    """A page does: how many cases and neurons, and which learning rate."""
    picture = PICTURES[name]
    figure = picture.figure(picture.compute(Settings(steps=20, dataset="wine")), "light")
    settings = re.compile(r"[HDNTη] = \d|width \d")
    told = [settings.search(one.text) for one in figure.layout.annotations]
    assert any(told), "on a page"
    assert not [one for one in shown("slide", figure) if settings.search(one["text"])]


@pytest.mark.parametrize(
    ("sentences", "told"),
    [(["It holds."], "It holds"), (["It holds. It does."], "It holds. It does."), ([], None)],
)
def test_answer_of_one_sentence_is_a_headline_without_a_full_stop(
    sentences: list[str], told: str | None
) -> None:
    assert [*answer(*sentences).sentences] == ([f"<b>{told}</b>"] if told else [])


def test_a_phone_has_the_words_of_a_slide_only_where_they_are_said_to_be_for_both() -> None:
    narrow, page = FORMS["narrow"], FORMS[""]
    for brief in (False, True):
        band = Band(["long"], on_slide=["short"], brief=brief)
        assert band.said(page) == ["long"]
        assert band.said(page._replace(slide=True)) == ["short"]
        assert band.said(narrow) == (["short"] if brief else ["long"])


def test_a_phone_leaves_out_panels_that_have_no_place_there() -> None:
    panels = [Panel(AXIS, AXIS, ["kept"]), Panel(AXIS, AXIS, ["left out"])]
    meta = Sheet([], rows=[panels], phone=[[0]]).on([line(), line("2")], "light").layout.meta
    assert meta["narrow"]["absent"] == ["x2"]
    assert "absent" not in meta["hall"]
    hidden = [
        at for at, one in meta["narrow"]["annotations"].items() if one.get("visible") is False
    ]
    assert len(hidden) == 1, "its words too"
