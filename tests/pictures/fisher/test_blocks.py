"""The Fisher information by pairs of neurons, against the matrix."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from normgeo.fisher.neuron_blocks import SCREEN
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

SMALL = Settings(dataset="wine")
FISHER = PICTURES["fisher"]


def test_map_and_block_are_those_of_the_matrix(rows, matrix):
    settings = Settings(dataset="wine", method="layer", neuron=2, other=0)
    dense, p = matrix(settings), 15
    found = rows("fisher", settings, method="layer norm", part="norm of the block")
    assert len(found) == 16
    for row in found:
        i, j = row["row"] * p, row["column"] * p
        assert row["value"] == pytest.approx(np.linalg.norm(dense[i : i + p, j : j + p]))
    entries = rows("fisher", settings, method="layer norm", part="entry of the block")
    assert len(entries) == p * p
    for row in entries:
        at = 2 * p + row["row"], row["column"]
        assert row["value"] == pytest.approx(dense[at], rel=1e-9, abs=1e-15)


def test_what_is_drawn_is_the_matrix_its_logarithm_and_its_correlation(matrix):
    settings = Settings(dataset="wine", method="layer", neuron=2, other=0)
    dense, p = matrix(settings), 15
    block = dense[2 * p : 3 * p, :p]
    roots = np.sqrt(np.outer(dense.diagonal()[2 * p : 3 * p], dense.diagonal()[:p]))
    logs = np.log10(np.abs(np.where(block == 0, np.nan, block)))
    expected = {"raw": block, "log": logs, "normalized": block / roots}
    layer = FISHER.compute(settings).models[-1]
    for entries, values in expected.items():
        np.testing.assert_allclose(layer.detail[entries], values, rtol=1e-8, atol=1e-12)
    drawn = FISHER.figure(FISHER.compute(settings), "light").data
    maps = [trace.z for trace in drawn if trace.name == "layer norm"]
    assert len(maps) == 6  # the overview and the block, three forms each
    # Tenths of a decade and percents: whole numbers, in a byte where no entry is missing.
    for z, values, unit in zip(maps[1::2], expected.values(), (1, 10, 100), strict=True):
        tolerance = 0.51 if unit > 1 else 1e-6
        np.testing.assert_allclose(z, unit * values, rtol=1e-6, atol=tolerance)


def test_classes_stand_one_against_the_rest_unless_a_softmax_is_asked_for():
    result = FISHER.compute(SMALL)
    assert "Bernoulli outputs" in result.caption
    assert any("each class against the rest" in note for note in result.notes)
    asked = FISHER.compute(Settings(dataset="wine", family="categorical"))
    assert "categorical outputs" in asked.caption
    assert not any("each class against the rest" in note for note in asked.notes)
    assert result.models[0].blocks.between == pytest.approx(0, abs=1e-12)
    assert asked.models[0].blocks.between > 0.01


def test_average_cost_of_a_step_is_that_of_steps_at_random(matrix):
    """The expectation of ½ δᵀFδ over directions, by Monte Carlo from the matrix."""
    settings = Settings(dataset="iris", method="layer")
    dense = matrix(settings)
    steps = np.random.default_rng(0).standard_normal((20_000, len(dense)))
    steps *= 0.1 / np.linalg.norm(steps, axis=1, keepdims=True)
    mean = 0.5 * np.einsum("ni,ij,nj->n", steps, dense, steps).mean()
    (note,) = [n for n in FISHER.compute(settings).notes if "½ δᵀFδ" in n]
    written = float(note.split(" nats (layer norm)")[0].split("= ")[-1])
    assert written == pytest.approx(mean, rel=0.05)


def test_figure_opens_with_the_entries_of_the_settings_and_has_all_three(subtests):
    for entries in ["raw", "log", "normalized"]:
        with subtests.test(entries=entries):
            settings = Settings(dataset="wine", entries=entries)
            figure = FISHER.figure(FISHER.compute(settings), "light")
            shown = [trace.visible for trace in figure.data]
            assert shown[12:] == [None, None]  # the ratios: always
            assert sum(shown[:12]) == 4
            for menus in (figure.layout.updatemenus, figure.layout.meta["narrow"]["updatemenus"]):
                menu = menus[0]
                chosen = menu["buttons"][menu["active"]]["args"][0]["visible"]
                assert list(chosen) == [each is not False for each in shown]
                for button in menu["buttons"]:
                    assert sum(button["args"][0]["visible"]) == 6


def test_ratio_shows_what_normalization_did_to_blocks_that_look_alike(matrix, subtests):
    for method in ["batch", "layer"]:
        with subtests.test(method=method):
            settings = Settings(dataset="wine", method=method, neurons=4)
            plain, mine = matrix(replace(settings, method="standard")), matrix(settings)

            def norm(F: np.ndarray, p: int, i: int, j: int) -> float:
                return float(np.linalg.norm(F[i * p : (i + 1) * p, j * p : (j + 1) * p]))

            result = FISHER.compute(settings)
            own = [norm(mine, 15, h, h) / norm(plain, 14, h, h) for h in range(4)]
            assert result.ratio.norms.diagonal() == pytest.approx(own)
            figure = FISHER.figure(result, "light")
            written = [one.text for one in figure.layout.annotations if one.xref == "x3"]
            assert written == [f"{value:.1f}" for value in own]
            apart = norm(mine, 15, 0, 1) / np.sqrt(norm(plain, 14, 0, 0) * norm(plain, 14, 1, 1))
            assert result.ratio.norms[0, 1] == pytest.approx(apart, abs=1e-12)
            assert (apart > 0.01) == (method == "layer")
            assert result.ratio.said in FISHER.description(result)
            assert ("shared up to × 0" in result.ratio.said[-17:]) == (method == "batch")


def test_standard_model_alone_has_no_ratio():
    result = FISHER.compute(Settings(dataset="wine", method="standard"))
    assert result.ratio is None
    assert "Only the standard model is shown." in FISHER.description(result)
    assert len(FISHER.figure(result, "dark").data) == 6


def test_map_of_many_neurons_is_no_larger_than_a_screen():
    settings = Settings(dataset="iris", neurons=256)
    figure = FISHER.figure(FISHER.compute(settings), "light")
    assert max(max(t.z.shape) for t in figure.data if t.type == "heatmap") == SCREEN
    assert len(figure.to_json()) < 160_000


def test_default_figure_is_light_enough_for_a_click():
    figure = FISHER.figure(FISHER.compute(Settings()), "light")
    assert len(figure.to_json()) < 130_000


def test_saturated_outputs_are_named_before_the_formula(monkeypatch):
    monkeypatch.setattr(import_module("normgeo.fisher.operator"), "SATURATED", 1.0)
    first, *others = FISHER.compute(SMALL).notes
    assert first.startswith("The Bernoulli outputs are saturated: their mean variance A'' is 0.2")
    assert not any("saturated" in note for note in others)


def test_a_map_too_faint_to_see_is_named_first():
    result = FISHER.compute(Settings(family="poisson", method="layer"))
    sizes = {m.normalizer.title: m.blocks.norms.max() for m in result.models}
    assert sizes["layer norm"] < 0.03 * sizes["standard"]
    assert result.notes[0].startswith("layer norm is too faint to see on the scale that both")
    assert "e+" not in " ".join(result.notes)
    assert not any("too faint" in note for note in FISHER.compute(SMALL).notes)


def test_blocks_without_curvature_are_named():
    result = FISHER.compute(Settings(dataset="wine", other=1))
    sentence = "standard, batch norm: neurons 0 and 1 share no curvature, so this block of F is 0."
    assert sentence in result.notes
    assert not any(model.blocks.block.any() for model in result.models)


def test_neurons_that_there_are_not_are_a_sentence():
    with pytest.raises(ValueError, match=r"numbered from 0 to 3; got the pair \(0, 4\)\. Choose"):
        FISHER.compute(Settings(dataset="wine", other=4))


def test_share_between_neurons_that_share_nothing_is_0_and_never_below(captions, subtests):
    for seed in range(6):
        with subtests.test(seed=seed):
            settings = Settings(dataset="iris", statistics="frozen", seed=seed)
            result = FISHER.compute(settings)
            for model in result.models:
                assert 0 <= model.blocks.between < 1e-12
    assert captions("fisher", result).count(">0% of ‖F‖² between neurons") == 2


def test_parameters_that_change_nothing_are_named_where_the_map_is_blank():
    """Of two neurons in a group only signs are left: no weight changes z, b and g do."""
    found = FISHER.compute(replace(SMALL, method="group", neurons=4, groups=2))
    group, D = found.models[-1], found.models[-1].layout.features
    assert np.isnan(group.detail["normalized"][:D]).all()
    said = f"group norm: {4 * D} of {4 * (D + 2)} parameters change nothing"
    assert [said in note for note in found.notes].count(True) == 1
    assert not any("standard: " in note and "change nothing" in note for note in found.notes)


def test_a_map_holds_numbers_of_any_size(subtests):
    """Single precision has none over 3e38 and few digits below 1e-38."""
    for size in [1e-200, 1e-40, 1.0, 1e37, 1e39, 1e300]:
        with subtests.test(size=size):
            values = size * np.array([[1.0, np.nan], [-0.5, 0.0]])
            kept = import_module("normgeo.pictures.fisher.blocks_figure")._compact(
                values, whole=False
            )
            np.testing.assert_allclose(kept, values, rtol=1e-7)
            assert (kept.dtype == np.float32) == (size in {1.0, 1e37})
