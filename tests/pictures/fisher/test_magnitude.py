"""The metric along the gains against the scale of the inputs."""

import numpy as np
import pytest

from normgeo import Normalizer, fisher
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.pictures.model_on_data import independent, model_on_data
from normgeo.settings import Settings

MAGNITUDE = PICTURES["magnitude"]
SMALL = Settings(dataset="wine")


def test_gaussian_gain_metrics_grow_as_section_8_says(rows):
    found = rows("magnitude", Settings(dataset="diabetes"))
    for title, power in (("standard", 2), ("weight norm", 2), ("batch norm", 0), ("layer norm", 0)):
        mine = [row for row in found if row["method"] == title]
        (one,) = [row["trace"] for row in mine if row["delta"] == pytest.approx(1)]
        for row in mine:
            assert row["trace"] / one == pytest.approx(row["delta"] ** power, rel=1e-9)
            assert row["trace_as_printed"] == pytest.approx(row["trace"], rel=1e-9)


def test_bernoulli_gain_metric_of_batch_norm_is_printed_too_large(rows):
    for row in rows("magnitude", SMALL, method="batch norm"):
        assert row["trace_as_printed"] > 1.1 * row["trace"]
    weight = [row["trace"] for row in rows("magnitude", SMALL, method="weight norm")]
    assert 0 < int(np.argmax(weight)) < len(weight) - 1  # it rises, then falls as it saturates


def test_trace_is_that_of_the_fisher_information_along_the_gains(rows, subtests):
    for method in [key for key in NORMALIZERS if key != "standard"]:
        with subtests.test(method=method):
            settings = Settings(
                dataset="wine", neurons=64, method=method
            )  # too many for a matrix drawn
            it = model_on_data(independent(settings), "standardized")
            for row in rows("magnitude", settings, method=it.model.normalizer.title)[::8]:
                diagonal = fisher(it.model, row["delta"] * it.X).diagonal()
                assert row["trace"] == pytest.approx(
                    diagonal[it.model.layout.gains].sum(), rel=1e-9
                )


def test_every_named_method_is_in_it_and_a_new_one_too(monkeypatch):
    monkeypatch.setitem(NORMALIZERS, "new", Normalizer("batch", "layer", name="new norm"))
    result = MAGNITUDE.compute(SMALL)
    titles = [normalizer.title for normalizer in NORMALIZERS.values()]
    assert [each.normalizer.title for each in result.methods] == titles
    traces = [t for t in MAGNITUDE.figure(result, "light").data if t.showlegend and len(t.x) > 1]
    assert [trace.name for trace in traces] == titles
    assert len({trace.line.color for trace in traces}) == len(titles)


def test_a_method_that_has_no_model_here_is_named_and_left_out():
    result = MAGNITUDE.compute(Settings(dataset="wine", neurons=1))
    assert [each.normalizer.title for each in result.methods] == [
        "standard",
        "batch norm",
        "weight norm",
        "mean-only batch + weight norm",
        "centered weight norm",
    ]
    named = [note.split(": ")[0] for note in result.notes if "norm: " in note]
    assert named == ["layer norm", "RMS norm", "group norm"]
    with pytest.raises(ValueError, match="needs at least 2"):
        MAGNITUDE.compute(Settings(dataset="wine", neurons=1, method="layer"))


def test_printed_over_exact_is_1_where_the_appendix_is_right():
    result = MAGNITUDE.compute(SMALL)
    off = {each.normalizer.title: each for each in result.methods}
    assert off["batch norm"].misprinted
    assert off["batch norm"].off == pytest.approx(off["batch norm"].printed_over_exact[8])
    for title in ("standard", "weight norm", "layer norm"):
        assert not off[title].misprinted
        np.testing.assert_allclose(off[title].printed_over_exact, 1)
    assert off["centered weight norm"].printed_over_exact is None


def test_poisson_axes_stay_readable():
    result = MAGNITUDE.compute(Settings(family="poisson", method="layer"))
    axis = MAGNITUDE.figure(result, "light").layout.yaxis
    assert len(axis.tickvals) <= 12
    assert not any("e" in tick for tick in axis.ticktext)
