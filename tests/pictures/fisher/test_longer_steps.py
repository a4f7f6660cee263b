"""The KL of ever longer steps beside its quadratic form."""

import numpy as np
import pytest

from normgeo.fisher.kl import kl
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

GROWTH = PICTURES["growth"]


def test_short_steps_cost_their_quadratic_form_and_radial_ones_nothing(rows, subtests):
    for method in ["batch", "layer", "weight", "rms"]:
        with subtests.test(method=method):
            settings = Settings(dataset="wine", method=method)
            title = settings.normalizer.title
            radial = rows("growth", settings, method=title, direction="along ŵ")
            assert max(row["kl"] for row in radial) < 1e-20
            assert max(abs(row["half_quadratic_form"]) for row in radial) < 1e-20 * 1e4
            for name in ("steepest", "at random"):
                first, *_, last = rows("growth", settings, method=title, direction=name)
                assert first["length"] == pytest.approx(1e-3)
                assert first["kl"] / first["half_quadratic_form"] == pytest.approx(1, abs=0.01)
                assert last["kl"] < 0.5 * last["half_quadratic_form"]  # z is bounded
            standard = rows("growth", settings, method="standard", direction="along ŵ")
            assert standard[0]["kl"] / standard[0]["half_quadratic_form"] == pytest.approx(
                1, abs=0.01
            )


def test_quadratic_form_is_that_of_the_matrix(matrix):
    settings = Settings(dataset="wine", method="layer")
    result, F = GROWTH.compute(settings), matrix(settings)
    point = result.base.points[-1]
    for k, direction in enumerate(point.directions):
        step = np.outer(result.lengths * point.norm, direction)
        expected = np.einsum("ni,ij,nj->n", step, F, step) / 2
        np.testing.assert_allclose(result.quadratic[-1, k], expected, rtol=1e-9, atol=1e-12)


def test_what_is_silent_has_no_line_and_no_ratio():
    result = GROWTH.compute(Settings(dataset="wine"))
    assert result.silent.tolist() == [[False, False, False], [True, False, False]]
    assert np.isnan(result.ratio[1, 0]).all()
    assert not np.isnan(result.ratio[1, 1]).any()
    figure = GROWTH.figure(result, "light")
    drawn = [trace.name for trace in figure.data if trace.x[0] is not None]
    assert len(drawn) == 5 * 3
    assert not any("batch norm, along" in name for name in drawn)
    assert "along the weights ŵ: both are 0" in figure.layout.annotations[2].text


def test_poisson_axes_stay_readable():
    result = GROWTH.compute(Settings(family="poisson", method="layer"))
    axis = GROWTH.figure(result, "light").layout.yaxis
    low, high = axis.range
    assert (high - low) / axis.dtick < 10


def test_written_step_has_the_kl_and_the_curvature_of_its_direction(matrix, subtests):
    for method in ["standard", "batch", "layer"]:
        with subtests.test(method=method):
            settings = Settings(dataset="iris", method=method, neuron=2)
            result, F = GROWTH.compute(settings), matrix(settings)
            point = result.base.points[-1]
            model, X = point.data.model, point.data.X
            steps = [step for step in result.written if step.method == point.normalizer.title]
            assert [step.direction for step in steps] == ["along ŵ", "steepest", "at random"]
            for step, direction in zip(steps, point.directions, strict=True):
                assert step.length == pytest.approx(0.1 * point.norm)
                assert step.curvature == pytest.approx(direction @ F @ direction, abs=1e-12)
                assert step.quadratic == pytest.approx(step.curvature * step.length**2 / 2)
                other = model.unpack(model.pack() + step.length * direction)
                assert step.kl == pytest.approx(kl(model, other, X), abs=1e-14)
            along = steps[0]
            assert ((along.curvature, along.quadratic, along.kl) == (0, 0, 0)) == (
                method != "standard"
            )


def test_first_output_is_that_of_the_neuron_in_the_first_case():
    result = GROWTH.compute(Settings(dataset="iris", method="layer", neuron=2))
    it, out = result.base.points[-1].data, result.output
    assert out.s == pytest.approx(it.model.natural_parameter(it.X)[0, 2])
    assert out.mean == pytest.approx(1 / (1 + np.exp(-out.s)))  # Bernoulli
    assert out.variance == pytest.approx(out.mean * (1 - out.mean))
