"""The pictures of Experiments by value: verdicts, what canvases miss, ink and gaps."""

import math
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from normgeo.experiments.results import FASTER, STATEMENTS, load, shares, verdict
from normgeo.pictures import PICTURES
from normgeo.pictures.experiments import multiples
from normgeo.pictures.experiments.about import NAMES
from normgeo.pictures.experiments.handwriting import Handwriting, Line
from normgeo.pictures.experiments.multiples import Experiment, Multiples
from normgeo.pictures.experiments.multiples_figure import FAR, NEVER
from normgeo.pictures.experiments.order import Order, Reading
from normgeo.pictures.style.colors import BLUE, GRAY, GREEN, contrast, legible
from normgeo.pictures.style.template import THEMES
from normgeo.settings import Settings
from normgeo.tables.marks import path, shape

BOTH = ("none", "layer")
ALL, ORDER, DRAW, HANDWRITING = (
    PICTURES[name] for name in ("experiments", "order", "draw", "handwriting")
)
MNIST, CONVOLUTION = (PICTURES[name] for name in ("mnist", "convolution"))
READER, SKIP_THOUGHTS = PICTURES["reader"], PICTURES["skip_thoughts"]


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
    assert "Claim: the colored method is much faster." in words
    (row,) = figure.layout.yaxis.ticktext
    color = legible(GREEN, THEMES["light"].paper, THEMES["light"].ink)
    assert row == f'DRAW: <b style="color:{color}">layer</b> vs no norm', "as its dots"
    drawn = [one.path for one in figure.layout.shapes if one.type == "path"]
    sign = {"holds": "✓", "fails": "✗"}.get(name)
    assert len(drawn) == (sign is not None)
    _, dots, verdicts = figure.data[:3]
    reached = {"holds": 1 / 3, "fails": NEVER, "not at this size": 2 / 3}[name]
    told = {"holds": "Holds", "fails": "Fails"}.get(name, "Open: 67%")
    assert verdicts.text == (f"<b>{told}</b>",)
    assert dots.x == pytest.approx((reached,))
    assert dots.text == ("<b> ×3</b>",)
    if sign:
        lines = shape(sign, "light", 24)["path"]
        assert [one.count("M") for one in drawn] == [lines.count("M")] == [path(sign).count("M")]


@pytest.mark.parametrize(("share", "said"), [(0.99, True), (1.0, False), (math.inf, False)])
def test_what_is_open_although_every_seed_is_faster_is_told_by_its_slowest(share, said):
    one = learned(CURVES["not at this size"])._replace(shares=(0.5, share, 0.7))
    figure = ALL.figure(Multiples((one,)), "light")
    words = [note.text for note in figure.layout.annotations]
    assert figure.data[2].text == (f"<b>Open: {'99%' if said else 'mixed'}</b>",)
    assert any("faster, 50 to 99%" in word for word in words) is said
    assert any(word.startswith("50") for word in words) is not said


def test_verdict_is_told_in_words_from_the_least_share_to_the_largest():
    """As numbers they have an order, as words another one: 100 and 92."""
    one = learned(CURVES["holds"])
    told = {
        (1.0, 0.92, 0.95): "92 to 100%",
        (1.0, math.inf, 0.92): "92 to 100% or never",
        (0.5, math.inf, math.inf): "50% or never",
        (math.inf,) * 3: "never",
    }
    for each, words in told.items():
        assert one._replace(shares=each).short == words


def test_each_small_picture_has_a_scale_of_steps_where_it_is_shown():
    """An embedded figure and a slide show none of them."""
    layout = ALL.figure(ALL.compute(Settings()), "light").layout
    for n in range(2, len(STATEMENTS) + 2):
        page = layout[f"xaxis{n}"].tickvals
        phone = layout.meta["narrow"].get(f"xaxis{n}", {}).get("tickvals", page)
        assert min(len(phone), len(page)) >= 2
        assert all(f"x{n}" in layout.meta[form]["absent"] for form in ("hall", "slide"))
    assert "steps of training" in layout[f"xaxis{len(STATEMENTS) + 1}"].title.text


def test_headline_counts_verdicts_and_names_the_seeds_that_decide():
    result = Multiples(tuple(learned(CURVES[name]) for name in (*CURVES, "fails")))
    assert result.headline == ("Sometimes: of 4 claims, in small runs, 1 holds, 2 fail, 1 is open.")
    assert [one.evidence for one in result.experiments[:3]] == [
        "layer norm reaches the best result without a norm after this share of the steps, seed by "
        "seed: 33%, 33%, 33%.",
        "layer norm never reaches the best result without a norm.",
        "layer norm reaches the best result without a norm after this share of the steps, seed by "
        "seed: 67%, 67%, 67%.",
    ]


def test_lines_are_gray_without_a_norm_and_green_with_layer_norm_on_a_band_over_the_seeds():
    result = ALL.compute(Settings())
    assert [one.result.name for one in result.experiments] == [*STATEMENTS]
    result = Multiples(tuple(one for one in result.experiments if [*one.result.methods] == [*BOTH]))
    figure = ALL.figure(result, "light")
    grid, *lines = [one for one in figure.data if one.fill is None and one.mode == "lines"]
    assert [*grid.x] == [0, NEVER, None] * len(result.experiments), "none goes on through a verdict"
    assert [one.line.color for one in lines] == [GRAY, GREEN] * len(result.experiments)
    shown = result.experiments[1].result.methods
    bands = [one for one in figure.data if one.fill]
    for place, method in enumerate(BOTH, start=len(BOTH)):
        curves = np.array(shown[method].validation)
        np.testing.assert_allclose(lines[place].y, curves.mean(axis=0))
        edges = [*curves.max(axis=0), *curves.min(axis=0)[::-1]]
        np.testing.assert_allclose(bands[place].y, edges)


def test_dots_are_the_shares_of_the_seeds_in_rows_of_claims():
    result = ALL.compute(Settings())
    figure = ALL.figure(result, "light")
    _, dots, verdicts = figure.data[:3]
    place = iter(zip(dots.x, dots.y, dots.text, dots.hovertext, dots.marker.color, strict=True))
    for row, one in enumerate(result.experiments):
        for share, seeds in Counter(shares(one.result)).items():
            x, y, times, told, color = next(place)
            assert x == (share if share <= FAR else NEVER)
            assert y == row
            assert times == (f"<b> ×{seeds}</b>" if seeds > 1 else "")
            words = f"{share:.0%}" if math.isfinite(share) else "never"
            assert told == ", ".join([words] * seeds)
            assert color == {"layer": GREEN, "batch": BLUE}[one.result.statement.fast]
    assert next(place, None) is None
    assert len({*zip(dots.x, dots.y, strict=True)}) == len(dots.x), "none covers another"
    told = [str(multiples.VERDICTS[one.verdict]) for one in result.experiments]
    assert [re.match("<b>(\\w+)", words)[1] for words in verdicts.text] == told
    assert [*figure.layout.xaxis.tickvals] == [0, FASTER, 1, NEVER]
    phone = figure.layout.meta["narrow"]
    assert phone["yaxis2"]["domain"][1] <= phone["legend"]["y"] < phone["yaxis"]["domain"][0], (
        "a phone has the names of curves over the curves"
    )
    assert figure.layout.meta["slide"]["absent"] == [f"x{n}" for n in range(2, 9)], "dots alone"


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
    assert "there is nothing to choose" in result.attention
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
    assert any("After 5 steps of the pen 0 of 3 lines have ended<" in line for line in words)
    assert [written("none").character(step) for step in (1, 3, 4, 99)] == [0, 0, 1, 1]


def test_lines_are_sums_of_the_offsets_that_ship():
    result = HANDWRITING.compute(Settings(pen=1))
    assert result.steps[result.opening] == 5
    for one, shipped in zip(result.lines, load("handwriting").moving["lines"], strict=True):
        offsets = np.array(shipped["points"])[:, :2]
        np.testing.assert_allclose(one.points[-1], offsets.sum(axis=0))
        np.testing.assert_allclose(one.points[7] - one.points[6], offsets[7], atol=1e-12)


def read(method, words, right, ranks):
    """A caption of which the right picture is third of five after the second word."""
    best = np.array([[0, 1, 2, 3, 4], [5, 4, 3, 2, 1], *[[4, 3, 2, 1, 0]] * (len(words) - 2)])
    return Reading(method, words, right, best, np.array(ranks, dtype=float))


def made_up(start):
    pictures = np.arange(6)[:, None, None] + np.zeros((6, 16, 16), int)
    long, short = ("a", "six", "above", "a", "two"), ("a", "two")
    readings = (
        read("none", long, 3, [4, 3, 2, 2, 1]),
        read("layer", long, 3, [4, 3, 2, 1, 1]),
        read("none", short, 5, [6, 1]),
        read("layer", short, 5, [6, 1.5]),
    )
    return Order(readings, pictures, "Made up.", start)


def test_best_pictures_stand_in_their_order_and_a_frame_is_around_the_right_one():
    figure = ORDER.figure(made_up(2), "light")
    heatmaps = [one for one in figure.data if one.type == "heatmap"]
    assert [[row[at] for at in (0, 16, 19, 38, 57, 76)] for row in heatmaps[0].z] == [
        [5, -1, 4, 3, 2, 1]
    ] * 16
    squares = [t for t in figure.data if t.type == "scatter" and t.mode == "lines"]
    square = next(t for t in squares if t.xaxis == "x")
    assert (min(square.x), max(square.x), min(square.y), max(square.y)) == (37, 54, -1, 16)
    short = next(t for t in squares if t.xaxis == "x4")
    assert (min(short.x), max(short.x)) == (-1, 16)
    squares = [t for t in figure.frames[4].data if t.type == "scatter" and t.mode == "lines"]
    assert squares[0].x == (18, 35, 35, 18, 18)
    assert squares[2].x == short.x, "a caption that has ended stays"
    squares = [t for t in figure.frames[0].data if t.type == "scatter" and t.mode == "lines"]
    assert squares[2].x == ()


def test_words_that_are_not_read_are_gray_and_ranks_are_told_by_method():
    result = made_up(2)
    words = [note.text for note in ORDER.figure(result, "light").layout.annotations]
    assert sum("“a six <span" in line for line in words) == 1
    assert result.told(2) == (
        "After word 2, ranks 3 and 1 without a norm, 3 and 1.5 with layer norm."
    )
    assert (made_up(1).opening, made_up(64).opening) == (0, 4)
    lines = [t for t in ORDER.figure(result, "light").data if t.name]
    assert [(t.xaxis, *t.y) for t in lines[1:3]] == [("x3", 4, 3, 2, 1, 1), ("x6", 6, 1)]
    assert [t.line.color for t in lines] == [GRAY, GREEN] * 2


def test_readings_are_those_that_ship_and_their_ranks_fit_the_best_pictures():
    result = ORDER.compute(Settings())
    moving = load("order").moving
    assert result.pictures.shape == (len(moving["pictures"]), 16, 16)
    assert f"{result.pictures[0, 0, 5]:x}" == moving["pictures"][0][5]
    for one, shipped in zip(result.readings, moving["captions"], strict=True):
        assert [*one.ranks] == shipped["ranks"]
        for best, rank in zip(one.best, one.ranks, strict=True):
            assert (one.right in best) == (rank <= 5)
            if rank <= 5:
                assert best[int(rank) - 1] == one.right


def test_tiles_are_dark_where_the_network_misreads_them_and_faint_where_it_does_not():
    result = MNIST.compute(Settings(updates=0))
    moving = load("mnist").moving
    figure = MNIST.figure(result, "light")
    for place in (0, 7, len(result.steps) - 1):
        frame = figure.frames[place]
        tiles = [each for each in frame.data if each.type == "heatmap"]
        asked = [each for each in frame.data if each.hoverinfo == "text"]
        small = [one for one in moving["ways"] if one["batch"] == 4]
        for one, drawn, names in zip(small, tiles, asked, strict=True):
            wrong = []
            for k, digit in enumerate(moving["digits"]):
                top, left = (9 * at for at in divmod(k, 16))
                ink = np.array(drawn.z)[top : top + 8, left : left + 8].ravel()
                taken = one["watched"][place][k]
                misread = taken != digit["digit"]
                whole = np.array(digit["ink"])
                assert np.array_equal(ink, whole if misread else whole // 8)
                wrong += [f"a {digit['digit']}, taken for {taken}"] * misread
            assert [*names.hovertext] == wrong
    words = " ".join(note.text for note in figure.layout.annotations)
    assert words.count(f" of {len(moving['digits'])} misread") == 2


def test_ways_to_learn_are_told_by_their_batches_and_drawn_in_the_colors_of_their_methods():
    result = MNIST.compute(Settings(updates=1010))
    figure, steps = MNIST.figure(result, "light"), [*result.steps]
    place = steps.index(1000)
    lines = [one for one in figure.data if one.name]
    assert [one.line.color for one in lines] == [BLUE, GREEN] * 2
    marks = figure.frames[place].data[:4]
    ways = load("mnist").moving["ways"]
    told = result.told(place)
    assert told.startswith("After 1000 updates: at batches of 4 batch norm misreads ")
    assert "; at batches of 128 batch norm misreads " in told
    assert figure.layout.sliders[0].active == place
    for one, line, mark in zip(ways, lines, marks, strict=True):
        missed = np.mean([curve[place] for curve in one["validation"]])
        assert mark.y[0] == pytest.approx(missed, rel=1e-3)
        assert line.y[place] == pytest.approx(missed)
        (errors,) = one["others"].values()
        mean = np.mean([curve[place] for curve in errors["validation"]])
        name = {"batch": "batch norm", "layer": "layer norm"}[one["method"]]
        assert f"{name} misreads {mean:.2g}%" in told
        name = {"batch": "with batch norm", "layer": "with layer norm"}[one["method"]]
        assert f"{np.mean(one['test']):.2g} {name} at batches of {one['batch']}" in result.ended


def test_answers_follow_the_contrast():
    result = CONVOLUTION.compute(Settings(delta=-4.2))
    moving = load("convolution").moving
    figure = CONVOLUTION.figure(result, "light")
    place = moving["contrasts"].index(4)
    assert figure.layout.sliders[0].active == place
    assert [step.value for step in figure.layout.sliders[0].steps][place] == "4"
    named = [one for one in figure.data if one.name]
    assert [one.line.color for one in named] == [GRAY, BLUE, GREEN]
    digits, *rest = figure.frames[place].data
    chances, marks = rest[:3], rest[3:]
    ink = np.array(moving["digits"][2]["ink"]).reshape(8, 8) / 16
    np.testing.assert_allclose(np.array(digits.z)[:, 18:26], np.sqrt(4 * ink), atol=0.01)
    for one, line, drawn, mark in zip(moving["answers"], named, chances, marks, strict=True):
        assert [*line.y] == one["errors"]
        assert (mark.x[0], mark.y[0]) == (4, one["errors"][place])
        np.testing.assert_allclose(np.array(drawn.z).T, np.array(one["chances"][place]) / 100)
    assert f"batch norm misreads {moving['answers'][1]['errors'][place]:.3g}%" in result.told(place)


def test_layer_norm_is_said_to_answer_the_same_only_where_it_does():
    result = CONVOLUTION.compute(Settings())
    result.methods["layer"].errors[:] = 2.0
    assert result.about.endswith("and answers the same at each.")
    result.methods["layer"].errors[0] = 3.5
    assert result.about.endswith("up to its ε: errors move by 1.5 points.")


def test_bars_of_a_reader_are_its_chances_and_the_answer_is_told():
    result = READER.compute(Settings(word=2))
    assert result.opening == 1
    (shipped,) = load("reader").moving["questions"]
    figure = READER.figure(result, "light")
    for bar, (method, one) in zip(figure.data, shipped["methods"].items(), strict=True):
        offered = [n for n in range(len(shipped["names"])) if f"@entity{n}" in shipped["document"]]
        chances = np.maximum(100 * np.array(one["chance"][1])[offered], 0.05)  # all have a name
        np.testing.assert_allclose(bar.x, chances, atol=1e-6)
        assert result.picked(method, 1) == int(np.argmax(one["chance"][1]))
    name = shipped["names"][int(shipped["answer"][7:])]
    for place in range(result.words):
        right = [m for m in result.methods if result.picked(m, place) == result.answer]
        told = result.told(place)
        assert f"the right name, “{name}”, leads" in told
        assert ("nowhere" in told) == (not right)
        assert (f"leads in {len(right)} of {len(result.methods)} networks" in told) == bool(right)


def test_words_are_in_the_color_of_the_attention_and_never_markup():
    result = READER.compute(Settings())
    one = result.methods["layer"]
    one.attention[:] = 0
    one.attention[:, 3] = 1
    words = ("a", "<b>", "&", "lit", *result.document[4:])
    figure = READER.figure(result._replace(document=words), "light")
    notes = " ".join(note.text for note in figure.layout.annotations).lower()
    color = legible(GREEN.lower(), THEMES["light"].paper, THEMES["light"].ink)
    lit = f'<span style="color:{color}">'
    assert f"{lit}lit</span>" in notes
    assert f"{lit}a</span>" not in notes
    assert "&lt;b&gt;" in notes


def test_curves_marks_and_words_of_skip_thoughts_are_of_one_evaluation():
    result = SKIP_THOUGHTS.compute(Settings(updates=0))
    shipped = load("skip_thoughts")
    (one,) = shipped.moving["sentences"]
    figure = SKIP_THOUGHTS.figure(result, "light")
    assert (result.opening, len(figure.frames)) == (0, len(shipped.steps))
    place = len(shipped.steps) // 2
    told = result.told(place)
    assert told.startswith(f"After {shipped.steps[place]} updates: ")
    marks = iter(figure.frames[place].data)
    for method in BOTH:
        learned = shipped.methods[method]
        wrong = next(iter(learned.others.values()))
        for curves, panel in ((learned.validation, "x"), (wrong.validation, "x2")):
            mark = next(marks)
            mean = np.mean([curve[place] for curve in curves])
            assert mark.y[0] == pytest.approx(mean, rel=1e-3)
            assert (mark.x[0], mark.xaxis) == (shipped.steps[place], panel)
        assert f"{mean:.2g}% of topics wrong" in told
        assert f"{np.mean(wrong.test):.3g}% {NAMES[method]}" in result.ended
        found = one["methods"][method]
        near = shipped.moving["near"][found["nearest"][place]]
        said = result.answered(method, place)
        assert said == (
            f"writes next “{found['written'][place]}”; nearest is “{near['said']}” "
            f"({near['topic']})"
        )
    guess = 100 - 100 / len(shipped.moving["topics"])
    assert f"a guess {guess:.3g}%" in result.ended


def test_words_of_sentences_are_never_markup():
    result = SKIP_THOUGHTS.compute(Settings())
    sentence = result.sentence._replace(words="if a <b> & c")
    notes = SKIP_THOUGHTS.figure(result._replace(sentence=sentence), "light").layout.annotations
    assert any("if a &lt;b&gt; &amp; c" in note.text for note in notes)


@pytest.mark.parametrize("theme", THEMES)
def test_words_that_a_reader_does_not_attend_to_can_still_be_read(theme):
    figure = READER.figure(READER.compute(Settings()), theme)
    written = " ".join(str(note.text) for note in figure.layout.annotations)
    colors = set(re.findall(r'<span style="color:(#[0-9a-f]{6})">', written))
    assert len(colors) > 5
    assert min(contrast(color, THEMES[theme].paper) for color in colors) >= 4.5
