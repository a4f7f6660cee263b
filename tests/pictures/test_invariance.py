"""The Invariance pictures by value: which change is drawn, and how exact a verdict is in floats."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest

from normgeo.datasets.datasets import DATASETS
from normgeo.invariance.transforms import TABLE_1, TRANSFORMS
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.scales import SCALES
from normgeo.pictures import PICTURES
from normgeo.pictures.invariance.effect import movement, shown_cases
from normgeo.pictures.invariance.thumbnails import bars
from normgeo.pictures.model_on_data import model_on_data
from normgeo.pictures.style.colors import contrast
from normgeo.settings import Settings
from normgeo.tables import marks
from tests.forms import on_a_phone


def test_weights_are_shifted_along_none_of_their_own():
    result = PICTURES["effect"].compute(Settings(cell="layer.weight_matrix_recentering"))
    before, after = result.effect.rows_before[0], result.effect.rows_after[-1, 0]
    gamma = after - before
    cosine = gamma @ before
    cosine /= np.linalg.norm(gamma) * np.linalg.norm(before)
    assert abs(cosine) < 0.5


def test_chosen_method_is_beside_those_of_the_paper(subtests):
    for method in NORMALIZERS:
        with subtests.test(method=method):
            settings = Settings(dataset="iris", neurons=6, cell=f"{method}.case_rescaling")
            result = PICTURES["effect"].compute(settings)
            assert list(result.effect.methods)[:3] == ["batch", "layer", "weight"]
            assert {"batch", "layer", "weight", method} == set(result.effect.methods)
            assert result.chosen == method


def test_statistics_that_move_are_written_so_that_they_do():
    """Under batch norm, one image of three times the contrast moves μ from 11.6 to 12.2."""
    for cell in ("batch.case_rescaling", "layer.weight_matrix_recentering"):
        result = PICTURES["effect"].compute(Settings(cell=cell))
        effect, figure = result.effect, PICTURES["effect"].figure(result, "light")
        for step, frame in enumerate(figure.frames):
            words = " ".join(note.text for note in frame.layout.annotations)
            words = re.sub(r"stays ([^\s<,]+)", r"\1 → \1", words)
            told = re.findall(r"(μ|σ|‖w‖) (\S+) → ([^\s<,]+)", words)
            assert [symbol for symbol, *_ in told] == ["μ", "σ", "μ", "σ", "‖w‖"]
            batch, layer, weight = effect.methods.values()
            owners = (batch, batch, layer, layer, weight)
            for method, (symbol, one, other) in zip(owners, told, strict=True):
                before, after = method.before, method.after[step]
                pair = (before.mu, after.mu) if symbol == "μ" else (before.sigma, after.sigma)
                value, changed = (values[effect.neuron] for values in pair)
                moved = not np.isclose(value, changed, rtol=1e-9)
                assert (one != other) == moved, (cell, method.normalizer.title, step)


def test_slider_opens_at_the_strength_of_the_settings(iris, subtests):
    for delta in [-3.0, 3.3]:
        with subtests.test(delta=delta):
            result = PICTURES["effect"].compute(Settings(dataset="iris", delta=delta))
            assert result.effect.strengths[result.opening] == delta
            figure = iris(delta=delta)
            slider = figure.layout.sliders[0]
            assert slider.steps[slider.active].value == f"{delta:g}"
            assert slider.name == "delta"


def notes(figure) -> list[str]:
    """The words of all frames, on a wide screen and on a narrow one."""
    wide = [note.text for frame in figure.frames for note in frame.layout.annotations]
    return wide + [n["text"] for frame in figure.frames for n in on_a_phone(figure, frame)]


@pytest.fixture(scope="module")
def iris() -> Callable[..., go.Figure]:
    """The figure of a change of four flowers' features."""

    @cache
    def drawn(**settings: object) -> go.Figure:
        picture = PICTURES["effect"]
        return picture.figure(picture.compute(Settings(dataset="iris", **settings)), "light")

    return drawn


def test_captions_write_numbers_for_people(iris):
    """A true minus, no "e-16", and no mark that a font may draw as a letter."""
    for words in (notes(iris()), notes(iris(cell="batch.case_offsets", eps=1e-5))):
        plain = re.sub(r"<[^>]*>", " ", " ".join(words))
        assert not re.search(r"\de[-+]\d|[\s(]-\d|[✓✗≈]", plain)


def test_numbers_say_of_which_neuron_or_case_they_are(iris):
    """Neurons of a case share the statistics of layer norm; where one of two, both are named.

    The axis of the dots says of which case.
    """
    layout = iris().layout
    words = " ".join(one.text for one in layout.annotations)
    told = re.findall(r"((?:case|neuron) [^:>]*): [μ‖]", words)
    assert [one.split()[0] for one in told] == ["neuron", "case", "neuron"]
    assert "z of case" in layout.xaxis4.title.text
    mixed = " ".join(notes(iris(rows="grid", cell="layer-batch.case_rescaling")))
    assert re.search(r"case \d+, neuron \d+: μ", mixed)


def test_a_bar_is_a_weight_or_a_feature(iris):
    for cell, bar in (
        ("layer.weight_vector_rescaling", "weight"),
        ("layer.case_rescaling", "feature"),
    ):
        assert f"each bar is a {bar}" in " ".join(notes(iris(cell=cell)))


def test_cases_shown_are_of_all_classes_by_turns():
    digits, iris = DATASETS["digits"].load(), DATASETS["iris"].load()
    assert shown_cases(digits).tolist() == list(range(8))
    assert digits.y[shown_cases(digits)].tolist() == list(range(8))
    assert np.bincount(iris.y[shown_cases(iris)]).tolist() == [3, 3, 2]
    assert 77 in shown_cases(iris, 77)
    assert len(shown_cases(DATASETS["diabetes"].load(), 200)) == 8


def test_statistics_are_those_of_the_eight_cases_shown():
    """One picture of eight three times as strong moves μ and σ of batch norm visibly."""
    settings = Settings(cell="batch.case_rescaling", index=5)
    result = PICTURES["effect"].compute(settings)
    here = model_on_data(settings, "raw")
    X = here.X[result.cases].copy()
    batch = result.effect.methods["batch"]
    np.testing.assert_allclose(batch.before.mu, (X @ here.model.W.T).mean(axis=0))
    X[5] *= 3
    after = batch.after[result.opening]
    np.testing.assert_allclose(after.mu, (X @ here.model.W.T).mean(axis=0))
    np.testing.assert_allclose(after.sigma, (X @ here.model.W.T).std(axis=0))
    assert result.case == 5
    assert np.abs(after.mu / batch.before.mu - 1).max() > 0.1


def test_one_scale_of_gray_does_not_saturate_at_three_or_five():
    picture = PICTURES["effect"]
    figure = picture.figure(picture.compute(Settings()), "light")
    darkest = {frame.name: np.abs(frame.data[0].z[:8, :8]).max() for frame in figure.frames}
    assert darkest["1"] < darkest["3"] < darkest["5"] == 127
    others = [frame.data[0].z[9:] for frame in figure.frames]
    assert all((rows == others[0]).all() for rows in others)
    assert (figure.data[1].zmin, figure.data[1].zmax) == (-127, 127)
    shades = [color for _, color in figure.data[1].colorscale]
    assert len(set(shades)) == len(shades)
    faint = shades[round(len(shades) * (1 + darkest["1"] / 127) / 2)]
    assert contrast(faint, "#FFFFFF") > 1.5


def test_all_and_one_are_marked_differently():
    picture = PICTURES["effect"]
    marked = {}
    for cell in (
        "batch.dataset_rescaling",
        "batch.case_rescaling",
        "layer.weight_vector_rescaling",
    ):
        figure = picture.figure(picture.compute(Settings(cell=cell)), "light")
        marked[cell.partition(".")[2]] = np.isnan(figure.data[2].x).sum()
    assert marked == {"dataset_rescaling": 8, "case_rescaling": 1, "weight_vector_rescaling": 1}


def test_bars_are_as_high_as_the_values():
    x, y = bars(np.array([[1.0, -2.0], [0.0, 4.0]]), -2.0, 4.0)
    base, end = y.reshape(2, 2, 6)[..., 0], y.reshape(2, 2, 6)[..., 1]
    np.testing.assert_allclose((base - end) * 6 / 8, [[1, -2], [0, 4]])
    assert np.ptp(base[0]) == 0
    assert np.nanmax(x) <= 17


def test_figure_that_opens_at_a_strength_is_its_frame(iris, subtests):
    """Whatever the frame before: every frame says all in which it differs from another."""
    for cell in ["layer.case_rescaling", "rms.weight_vector_offsets"]:
        with subtests.test(cell=cell):
            here, there = (iris(cell=cell, delta=delta).to_plotly_json() for delta in (1.0, 2.0))
            (frame,) = (frame for frame in here["frames"] if frame["name"] == "2")
            for place, values in zip(frame["traces"], frame["data"], strict=True):
                for name, value in values.items():
                    np.testing.assert_array_equal(there["data"][place][name], value)
            for name in ("annotations", "shapes"):
                shown = frame["layout"].get(name, here["layout"][name])
                assert there["layout"][name] == shown
            narrow = frame["layout"]["meta"]["narrow"]
            assert narrow.items() <= there["layout"]["meta"]["narrow"].items()


def test_verdicts_are_read_from_the_back_row(iris):
    """Words of 24 px at least, and the mark of each beside it, drawn in bold lines."""
    figure = iris(cell="rms.dataset_rescaling", eps=1e-5, delta=-2.0)
    verdicts = [note for note in figure.layout.annotations if note.font.size >= 24][1:]
    assert [re.sub("<[^>]*>", "", note.text) for note in verdicts] == [
        "−z only at ε = 0",
        "−z only at ε = 0",
        "not invariant",
        "−z only at ε = 0",
    ]
    paths = [shape for shape in figure.layout.shapes if shape.type == "path"]
    assert len(paths) == 4
    assert all(path.line.width >= 4 for path in paths)
    assert all(note.font.size >= 14 for note in figure.layout.annotations)


def test_mark_is_drawn_upright_around_its_point():
    """The long arm of ✓ rises to the right: plotly counts pixels upward, SVG downward."""
    corners = re.findall(r"(-?[\d.]+),(-?[\d.]+)", marks.shape("✓", "light", 24)["path"])
    (_, left), (_, lowest), (_, highest) = ((float(x), float(y)) for x, y in corners)
    assert lowest < left < highest


def test_address_takes_the_value_of_every_frame(iris, subtests):
    for cell in ["layer.case_rescaling", "rms.weight_vector_offsets"]:
        with subtests.test(cell=cell):
            for step in iris(cell=cell, delta=1.0).layout.sliders[0].steps:
                assert Settings.from_query({"delta": step.value})[1] == ()


def test_shift_of_negative_strength_is_written_with_a_minus(iris):
    words = [
        note.text for note in iris(cell="layer.dataset_recentering", delta=-3).layout.annotations
    ]
    assert [word for word in words if word.startswith("<b>all − 3 γ</b>")]


def test_slider_stays_where_it_is_whichever_change_is_chosen():
    """All that stands above the axes has one height, so a choice moves nothing under a hand."""
    tops = set()
    for change in TABLE_1:
        picture = PICTURES["effect"]
        figure = picture.figure(picture.compute(Settings(cell=f"layer.{change}")), "light")
        tops.add((figure.layout.margin.t, figure.layout.height))
    assert len(tops) == 1


@pytest.mark.parametrize("change", TABLE_1)
def test_heading_names_the_methods_whose_z_stands_still(change):
    """Those whose z is the same in rounding, however large the change is."""
    picture = PICTURES["effect"]
    result = picture.compute(Settings(dataset="iris", cell=f"layer.{change}", delta=3))
    drawn = picture.figure(result, "light")
    still = [
        str(method.normalizer.title)
        for method in result.effect.methods.values()
        if all(np.allclose(method.before.z, after.z, rtol=1e-9) for after in method.after)
        or (TRANSFORMS[change].rescales and np.allclose(method.before.z, method.after[-1].z))
    ]
    words = {
        1: "Of these three, only {} ignores",
        2: "Of these three, {} and {} ignore",
        3: "All three ignore",
    }
    said = words[len(still)].format(*still)
    assert drawn.layout.annotations[0].text.startswith(f"<b>{said} ")


def test_heading_has_no_verdict_where_one_is_hidden_or_not_plain(iris):
    for settings in (
        {"delta": 1},
        {"delta": -2},
        {"cell": "layer.case_rescaling", "eps": 1e-5, "delta": 3},
    ):
        figure = iris(**{"cell": "layer.weight_matrix_rescaling", **settings})
        heading = figure.layout.annotations[0].text
        assert "gnore" not in heading, heading
    result = PICTURES["effect"].compute(Settings(dataset="iris"))
    hidden = PICTURES["effect"].figure(result.only(["layer"], [0, 1]), "light")
    assert "gnore" not in " ".join(notes(hidden))


def test_one_factor_changes_nothing_and_has_no_mark(iris):
    figure = iris(cell="layer.case_rescaling", delta=1.0)
    assert not [shape for shape in figure.layout.shapes if shape.type == "path"]
    assert sum("nothing changed" in note.text for note in figure.layout.annotations) == 3


def test_sweeps_are_of_every_type_and_of_an_epsilon_where_it_acts(subtests):
    for method in NORMALIZERS:
        with subtests.test(method=method):
            settings = Settings(dataset="iris", neurons=6, cell=f"{method}.weight_matrix_rescaling")
            names = [name for name, _ in PICTURES["floating_point"].compute(settings).curves]
            expected = ["float16, ε = 0", "float32, ε = 0", "float64, ε = 0"]
            if SCALES[NORMALIZERS[method].scale].takes_eps:
                expected.append("float64, ε = 1 · 10⁻⁵")
            assert names == expected


def test_epsilon_breaks_what_is_exact_without_it():
    result = PICTURES["floating_point"].compute(Settings(cell="layer.case_rescaling"))
    changes = {name: np.nanmax(curve.change) for name, curve in result.curves}
    assert changes["float64, ε = 0"] < 1e-14
    assert changes["float64, ε = 1 · 10⁻⁵"] > 0.1


def test_z_that_was_zero_moves_by_a_number():
    """Relative to no z at all, any move is infinite."""
    result = PICTURES["effect"].compute(Settings(cell="batch.case_rescaling"))
    method = result.effect.methods["batch"]
    still = replace(method.before, z=np.zeros(10))
    after = replace(still, z=np.full(10, -0.25), change=np.inf)
    assert (
        str(movement(replace(method, before=still, after=(after,)), 0)) == "z moves by up to 0.25"
    )
