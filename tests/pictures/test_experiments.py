"""The pictures of Experiments by value: verdicts, what canvases miss, ink and gaps."""

from dataclasses import replace

import numpy as np
import pytest

from normgeo.experiments.results import STATEMENTS, load, shares, verdict
from normgeo.pictures import PICTURES
from normgeo.pictures.experiments import multiples
from normgeo.pictures.experiments.handwriting import Handwriting, Line
from normgeo.pictures.experiments.multiples import Experiment, Multiples
from normgeo.pictures.style.colors import GRAY, GREEN
from normgeo.settings import Settings
from normgeo.tables.marks import path, shape

BOTH = ("none", "layer")
ALL, DRAW, HANDWRITING = (PICTURES[name] for name in ("experiments", "draw", "handwriting"))
READER = PICTURES["reader"]


def learned(layer):
    """An experiment in which the network without a norm is best, 1, at its fourth point."""
    result = load("draw")
    without, normed = (result.methods[method] for method in BOTH)
    curves = [[4, 3, 2, 1], layer]
    found = [
        replace(method, validation=((*map(float, curve),),) * 3)
        for method, curve in zip((without, normed), curves, strict=True)
    ]
    given = replace(result, steps=(0, 10, 20, 30), methods=dict(zip(BOTH, found, strict=True)))
    return Experiment(given, verdict(given), shares(given))


CURVES = {
    "holds": [4, 1, 1, 1],
    "fails": [4, 3, 3, 2],
    "not at this size": [4, 3, 1, 1],
}


@pytest.mark.parametrize("name", CURVES)
def test_verdict_of_a_statement_is_that_of_the_curves_with_its_mark(name):
    figure = ALL.figure(Multiples((learned(CURVES[name]),)), "light")
    words = " ".join(note.text for note in figure.layout.annotations).replace("<br>", " ")
    assert str(multiples.VERDICTS[name]) in words
    assert str(STATEMENTS["draw"].words) in words.replace("  ", " ")
    drawn = [one.path for one in figure.layout.shapes if one.type == "path"]
    sign = {"holds": "✓", "fails": "✗"}.get(name)
    assert len(drawn) == (sign is not None)
    if sign:
        lines = shape(sign, "light", 24)["path"]
        assert [one.count("M") for one in drawn] == [lines.count("M")] == [path(sign).count("M")]


def test_headline_counts_verdicts_and_names_the_seeds_that_decide():
    result = Multiples(tuple(learned(CURVES[name]) for name in (*CURVES, "fails")))
    assert result.headline == (
        "Of 4 statements of the paper, tried small: 1 holds, 2 fail, 1 is not decided."
    )
    assert [one.evidence for one in result.experiments[:3]] == [
        "steps until layer norm is as good as the best without a norm, by seed: 33%, 33%, 33%.",
        "layer norm never gets as good as the best without a norm.",
        "steps until layer norm is as good as the best without a norm, by seed: 67%, 67%, 67%.",
    ]


def test_lines_are_gray_without_a_norm_and_green_with_layer_norm_on_a_band_over_the_seeds():
    result = ALL.compute(Settings())
    assert [one.result.name for one in result.experiments] == [*STATEMENTS]
    result = Multiples(tuple(one for one in result.experiments if [*one.result.methods] == [*BOTH]))
    figure = ALL.figure(result, "light")
    lines = [one for one in figure.data if one.fill is None]
    assert [one.line.color for one in lines] == [GRAY, GREEN] * len(result.experiments)
    shown = result.experiments[1].result.methods
    bands = [one for one in figure.data if one.fill]
    for place, method in enumerate(BOTH, start=len(BOTH)):
        curves = np.array(shown[method].validation)
        np.testing.assert_allclose(lines[place].y, curves.mean(axis=0))
        edges = [*curves.max(axis=0), *curves.min(axis=0)[::-1]]
        np.testing.assert_allclose(bands[place].y, edges)


def test_words_give_each_figure_to_its_method():
    result = ALL.compute(Settings())
    means = {m: f"{np.mean(load('draw').methods[m].test):.3g}" for m in BOTH}
    words = ALL.description(result).replace("−", "-")
    assert f"{means['none']} without a norm, {means['layer']} with layer norm" in words


def test_canvases_miss_the_negative_log_of_the_chance_they_give_the_digit():
    result = DRAW.compute(Settings())
    for method in BOTH:
        pictures = [one for one in load("draw").moving["pictures"] if one["method"] == method]
        for place, one in enumerate(pictures):
            expected = 0.0
            for ink, level in zip(
                np.ravel(one["target"]), np.ravel(one["canvases"][-1]), strict=True
            ):
                chance = min(max(level / 255, 1 / 510), 1 - 1 / 510)
                expected -= np.log(chance if ink else 1 - chance)
            assert result.methods[method].missed[-1, place] == pytest.approx(expected)


def test_windows_are_cut_where_their_picture_ends():
    result = DRAW.compute(Settings())
    one = next(iter(result.methods.values()))
    one.windows[-1] = [[3.5, 2.0, 4.0], [9.0, 3.5, 6.0], [3.5, 3.5, 99.0]]
    drawn = DRAW.figure(result, "light").data
    square = next(t for t in drawn if t.type == "scatter" and t.mode == "lines")
    assert [*zip(square.x, square.y, strict=True)][:4] == [(1.5, 0), (5.5, 0), (5.5, 4), (1.5, 4)]
    assert (square.x[6], square.x[7]) == (16, 17.5)
    assert (square.x[12], square.x[13], square.y[12], square.y[14]) == (19.5, 27.5, -0.5, 7.5)


def test_window_is_said_to_leave_nothing_out_only_where_it_is_as_wide_as_a_picture():
    result = DRAW.compute(Settings())
    for one in result.methods.values():
        one.windows[..., 2] = 16.0
    assert "nothing is attended to" in result.attention
    for one in result.methods.values():
        one.windows[..., 2] = 3.0
    assert result.attention == "Pictures are 8 pixels wide, the window 3 on average."


def written(writer):
    points = np.array([[0.0, 0], [1, 1], [2, 0], [5, 0], [6, 1], [7, 0]])
    lifts = np.arange(6) == 2
    return Line(writer, "ab", points, lifts, np.array([0, 0, 0.4, 1.2, 1.9, 2.5]))


def test_pen_leaves_a_gap_where_it_is_lifted_and_the_text_shows_where_it_is():
    result = Handwriting(tuple(map(written, ("data", "none", "layer"))), "Made up.", 5)
    figure = HANDWRITING.figure(result, "light")
    assert figure.data[0].x == (0, 1, 2, None, 5, 6)
    assert (figure.data[1].x, figure.data[1].y) == ((6,), (1,))
    assert figure.frames[1].data[0].x == (0, 1, 2, None, 5, 6, 7)
    words = [note.text for note in figure.layout.annotations]
    assert sum("a<u>b</u>" in line for line in words) == 3
    assert any("After 5 steps of the pen 0 of 3 lines are written." in line for line in words)
    assert [written("none").character(step) for step in (1, 3, 4, 99)] == [0, 0, 1, 1]


def test_lines_are_sums_of_the_offsets_that_ship():
    result = HANDWRITING.compute(Settings(pen=1))
    assert result.steps[result.opening] == 5
    for one, shipped in zip(result.lines, load("handwriting").moving["lines"], strict=True):
        offsets = np.array(shipped["points"])[:, :2]
        np.testing.assert_allclose(one.points[-1], offsets.sum(axis=0))
        np.testing.assert_allclose(one.points[7] - one.points[6], offsets[7], atol=1e-12)


def test_bars_of_a_reader_are_its_chances_and_the_answer_is_told():
    result = READER.compute(Settings(asked=2))
    assert result.opening == 1
    (shipped,) = load("reader").moving["questions"]
    figure = READER.figure(result, "light")
    for bar, (method, one) in zip(figure.data, shipped["methods"].items(), strict=True):
        offered = [n for n in range(len(shipped["names"])) if f"@entity{n}" in shipped["document"]]
        np.testing.assert_allclose(bar.x, 100 * np.array(one["chance"][1])[offered], atol=1e-6)
        assert result.picked(method, 1) == int(np.argmax(one["chance"][1]))
    name = shipped["names"][int(shipped["answer"][7:])]
    for place in range(result.words):
        right = [m for m in result.methods if result.picked(m, place) == result.answer]
        told = result.told(place)
        assert f"the right name, “{name}”, leads" in told
        assert ("nowhere" in told) == (not right)


def test_words_are_in_the_color_of_the_attention_and_never_markup():
    result = READER.compute(Settings())
    one = result.methods["layer"]
    one.attention[:] = 0
    one.attention[:, 3] = 1
    words = ("a", "<b>", "&", "lit", *result.document[4:])
    figure = READER.figure(result._replace(document=words), "light")
    notes = " ".join(note.text for note in figure.layout.annotations).lower()
    lit = f'<span style="color:{GREEN.lower()}">'
    assert f"{lit}lit</span>" in notes
    assert f"{lit}a</span>" not in notes
    assert "&lt;b&gt;" in notes
