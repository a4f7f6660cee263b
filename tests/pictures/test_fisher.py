"""The Fisher pictures by value: blocks, contours, longer steps, spectra, Eq. 13 and gains."""

from importlib import import_module

import numpy as np
import pytest

from normgeo import fisher
from normgeo.fisher.neuron_blocks import SCREEN
from normgeo.pictures import PICTURES
from normgeo.pictures.model_on_data import independent, model_on_data
from normgeo.settings import Settings

SMALL = Settings(dataset="wine")


def table(name: str, settings: Settings) -> list[dict]:
    view = PICTURES[name]
    return view.table(view.compute(settings)).records()


def of(rows: list[dict], **wanted: object) -> list[dict]:
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def matrix(settings: Settings, coupling: str = "exact") -> np.ndarray:
    it = model_on_data(independent(settings), "standardized")
    return fisher(it.model, it.X, coupling=coupling).to_dense()


def test_map_and_block_are_those_of_the_matrix():
    settings = Settings(dataset="wine", method="layer", neuron=2, other=0)
    dense = matrix(settings)
    rows = of(table("fisher", settings), method="layer norm")
    p = 15
    for row in of(rows, part="norm of the block"):
        i, j = row["row"] * p, row["column"] * p
        assert row["value"] == pytest.approx(np.linalg.norm(dense[i : i + p, j : j + p]))
    entries = of(rows, part="entry of the block")
    assert len(entries) == p * p
    for row in entries:
        at = 2 * p + row["row"], row["column"]
        assert row["value"] == pytest.approx(dense[at], rel=1e-9, abs=1e-15)


def test_classes_stand_one_against_the_rest_unless_a_softmax_is_asked_for():
    picture = PICTURES["fisher"].compute(SMALL)
    assert "Bernoulli outputs" in picture.about
    assert any("each class against the rest" in note for note in picture.notes)
    asked = PICTURES["fisher"].compute(Settings(dataset="wine", family="categorical"))
    assert "categorical outputs" in asked.about
    assert asked.sides[0].blocks.between > 0.01


def test_average_cost_of_a_step_is_that_of_steps_at_random():
    """The expectation of ½ δᵀFδ over directions, by Monte Carlo from the matrix."""
    settings = Settings(dataset="iris", method="layer")
    dense = matrix(settings)
    steps = np.random.default_rng(0).standard_normal((20_000, len(dense)))
    steps *= 0.1 / np.linalg.norm(steps, axis=1, keepdims=True)
    mean = 0.5 * np.einsum("ni,ij,nj->n", steps, dense, steps).mean()
    (note,) = [n for n in PICTURES["fisher"].compute(settings).notes if "½ δᵀFδ" in n]
    told = float(note.split(" nats (layer norm)")[0].split("= ")[-1])
    assert told == pytest.approx(mean, rel=0.05)


@pytest.mark.parametrize("entries", ["raw", "log", "normalized"])
def test_figure_opens_with_the_entries_of_the_settings_and_has_all_three(entries):
    settings = Settings(dataset="wine", entries=entries)
    figure = PICTURES["fisher"].figure(PICTURES["fisher"].compute(settings), "light")
    shown = [trace.visible for trace in figure.data]
    assert len(shown) == 12
    assert sum(shown) == 4
    menu = figure.layout.updatemenus[0]
    assert list(menu.buttons[menu.active].args[0]["visible"]) == shown
    for button in menu.buttons:
        assert sum(button.args[0]["visible"]) == 4


def test_map_of_many_neurons_is_no_larger_than_a_screen():
    settings = Settings(dataset="iris", neurons=256)
    figure = PICTURES["fisher"].figure(PICTURES["fisher"].compute(settings), "light")
    assert max(max(trace.z.shape) for trace in figure.data) == SCREEN
    assert len(figure.to_json()) < 1_500_000


def test_default_figure_is_light_enough_for_a_click():
    figure = PICTURES["fisher"].figure(PICTURES["fisher"].compute(Settings()), "light")
    assert len(figure.to_json()) < 200_000


@pytest.mark.parametrize("method", ["batch", "layer", "weight", "rms"])
def test_short_steps_cost_their_quadratic_form_and_radial_ones_nothing(method):
    rows = table("growth", Settings(dataset="wine", method=method))
    title = rows[-1]["method"]
    radial = of(rows, method=title, direction="along ŵ")
    assert max(row["kl"] for row in radial) < 1e-20
    assert max(abs(row["half_quadratic_form"]) for row in radial) < 1e-20 * 1e4
    for name in ("steepest", "at random"):
        first, *_, last = of(rows, method=title, direction=name)
        assert first["length"] == pytest.approx(1e-3)
        assert first["kl"] / first["half_quadratic_form"] == pytest.approx(1, abs=0.01)
        assert last["kl"] < 0.5 * last["half_quadratic_form"]  # z is bounded
    standard = of(rows, method="standard", direction="along ŵ")
    assert standard[0]["kl"] / standard[0]["half_quadratic_form"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("method", ["standard", "batch", "layer"])
def test_spectrum_is_that_of_the_matrix(method):
    settings = Settings(dataset="wine", method=method)
    rows = table("spectra", settings)
    mine = of(rows, method=rows[-1]["method"])
    expected = np.linalg.eigvalsh(matrix(settings))[::-1]
    values = np.array([row["eigenvalue"] for row in mine])
    np.testing.assert_allclose(values, expected, atol=1e-12 * expected[0])
    shares = [row["share_of_trace_so_far"] for row in mine]
    np.testing.assert_allclose(shares, expected.cumsum() / expected.sum(), atol=1e-9)


def test_large_spectrum_has_its_largest_eigenvalues_and_says_so():
    picture = PICTURES["spectra"].compute(Settings(neurons=20))
    assert [len(s.values) for s in picture.spectra] == [100, 100]
    assert [s.method for s in picture.spectra] == ["lanczos", "lanczos"]
    assert "The 100 largest eigenvalues" in picture.notes[0]


def relative_error(settings: Settings, weights: bool = False) -> float:
    exact, paper = matrix(settings), matrix(settings, "paper")
    if weights:
        H = 5 if settings.neurons == 5 else 10
        keep = np.tile(np.arange(len(exact) // H) < len(exact) // H - 2, H)
        exact, paper = exact[np.ix_(keep, keep)], paper[np.ix_(keep, keep)]
    return float(np.linalg.norm(paper - exact) / np.linalg.norm(exact))


def test_equation_13_is_exact_without_a_layer_statistic_and_off_with_one():
    batch = PICTURES["eq13"].compute(Settings(dataset="wine"))
    assert batch.here.whole < 1e-12
    assert batch.widths == ()
    settings = Settings(method="layer")
    layer = PICTURES["eq13"].compute(settings)
    assert layer.here.whole == pytest.approx(relative_error(settings), rel=1e-9)
    assert layer.here.weights == pytest.approx(relative_error(settings, weights=True), rel=1e-9)
    assert 0.3 < layer.here.weights < 0.45
    np.testing.assert_allclose(
        np.linalg.norm(layer.gap) / np.linalg.norm(layer.exact), layer.here.whole
    )
    widths = [each.neurons for each in layer.widths]
    errors = [each.weights for each in layer.widths]
    assert widths == [3, 4, 6, 8, 12, 16, 24]
    assert sorted(errors, reverse=True) == errors
    assert errors[0] > 0.6
    assert errors[-1] < 0.3


def test_groups_widen_together():
    picture = PICTURES["eq13"].compute(Settings(dataset="wine", method="group", neurons=6))
    assert [each.neurons for each in picture.widths][:3] == [6, 8, 12]


def test_gaussian_gain_metrics_grow_as_section_8_says():
    rows = table("magnitude", Settings(dataset="diabetes"))
    for title, power in (("standard", 2), ("weight norm", 2), ("batch norm", 0), ("layer norm", 0)):
        mine = of(rows, method=title)
        (one,) = [row["trace"] for row in mine if row["delta"] == pytest.approx(1)]
        for row in mine:
            assert row["trace"] / one == pytest.approx(row["delta"] ** power, rel=1e-9)
            assert row["trace_as_printed"] == pytest.approx(row["trace"], rel=1e-9)


def test_bernoulli_gain_metric_of_batch_norm_is_printed_too_large():
    rows = table("magnitude", SMALL)
    for row in of(rows, method="batch norm"):
        assert row["trace_as_printed"] > 1.1 * row["trace"]
    weight = [row["trace"] for row in of(rows, method="weight norm")]
    assert 0 < int(np.argmax(weight)) < len(weight) - 1  # it rises, then falls as it saturates


@pytest.mark.parametrize("name", PICTURES)
def test_stopped_computation_keeps_what_it_has(name):
    view, seen = PICTURES[name], []

    def stop(done: int, steps: int) -> None:
        assert 0 < done <= steps
        seen.append(done)
        if len(seen) == 30 or name not in ("equal_kl", "magnitude"):
            raise StopIteration

    settings = Settings(dataset="wine", method="layer")
    picture = view.watched(settings, stop)
    figure = view.figure(picture, "dark")
    whole = view.figure(view.compute(settings), "dark")
    assert len(figure.to_json()) < len(whole.to_json())
    assert len(view.table(picture).rows) < len(view.table(view.compute(settings)).rows)


@pytest.mark.parametrize("name", PICTURES)
def test_too_many_parameters_are_a_sentence(name):
    if name == "magnitude":
        PICTURES[name].compute(Settings(dataset="iris", neurons=64))  # it needs no matrix
        return
    with pytest.raises(ValueError, match=r"up to 2,048 parameters; .* have 2,520\. Use fewer"):
        PICTURES[name].compute(Settings(neurons=40))


@pytest.mark.parametrize("name", ["fisher", "equal_kl", "growth"])
def test_neurons_that_there_are_not_are_a_sentence(name):
    with pytest.raises(ValueError, match="Neurons are numbered from 0 to 3"):
        PICTURES[name].compute(Settings(dataset="wine", neuron=4))


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("method", ["standard", "group", "mean_only_batch_weight"])
def test_every_method_has_every_picture_in_both_themes(name, method):
    view = PICTURES[name]
    settings = Settings(dataset="iris", neurons=6, method=method, eps=1e-5, statistics="frozen")
    picture = view.compute(settings)
    for theme in ("light", "dark"):
        assert "nan" not in str(view.figure(picture, theme).layout.annotations)
    assert view.table(picture).rows


@pytest.mark.parametrize("method", ["batch", "layer", "weight"])
def test_levels_are_round_and_the_ellipses_fit_the_panel(method):
    rows = of(table("equal_kl", Settings(dataset="wine", method=method)), plane="across")
    levels = sorted({row["level"] for row in rows})
    assert levels == pytest.approx([levels[0], 4 * levels[0], 9 * levels[0]])
    assert f"{levels[0]:.0e}"[0] in "125"
    mine = of(rows, method=rows[-1]["method"], level=levels[0])
    assert 0.18 < max(abs(row["quadratic_x"]) for row in mine) < 0.32


def test_saturated_outputs_are_told_first(monkeypatch):
    monkeypatch.setattr(import_module("normgeo.fisher.operator"), "SATURATED", 1.0)
    first, *others = PICTURES["fisher"].compute(SMALL).notes
    assert first.startswith("The Bernoulli outputs are saturated: their mean variance A'' is 0.2")
    assert not any("saturated" in note for note in others)


def test_two_neurons_under_layer_norm_have_no_error_of_weights_that_change_nothing():
    settings = Settings(dataset="wine", method="layer", neurons=2)
    picture = PICTURES["eq13"].compute(settings)
    assert np.isnan(picture.here.weights)
    assert picture.here.whole < 1e-9
    for theme in ("light", "dark"):
        words = PICTURES["eq13"].figure(picture, theme).layout.annotations[0].text
        assert "F<sub>WW</sub> is 0, as no output changes with the weights" in words
        assert "%" not in words


def test_poisson_axes_stay_readable():
    settings = Settings(family="poisson", method="layer")
    magnitude = PICTURES["magnitude"].figure(PICTURES["magnitude"].compute(settings), "light")
    assert len(magnitude.layout.yaxis.tickvals) <= 12
    growth = PICTURES["growth"].figure(PICTURES["growth"].compute(settings), "light")
    low, high = growth.layout.yaxis.range
    assert (high - low) / growth.layout.yaxis.dtick < 10
    picture = PICTURES["fisher"].compute(settings)
    assert picture.notes[0].startswith("layer norm is too faint to see on the scale that both")
    assert "e+" not in " ".join(picture.notes)


def test_poisson_contours_are_closed_and_thin_where_one_curvature_is_large():
    rows = table("equal_kl", Settings(family="poisson", method="layer"))
    mine = of(rows, method="standard", plane="across", level=rows[0]["level"])
    assert max(abs(row["quadratic_y"]) for row in mine) > 0
    assert (mine[0]["quadratic_x"], mine[0]["kl_x"]) == (mine[-1]["quadratic_x"], mine[-1]["kl_x"])
