"""Curvatures by whose labels they are of, against a loop over the cases."""

import numpy as np
import pytest

from normgeo.pictures import PICTURES
from normgeo.settings import Settings

LABELS = PICTURES["labels"]
DIRECTIONS = ["along ŵ", "steepest", "at random"]


def test_observed_curvature_is_the_mean_square_of_the_slopes_at_the_labels(rows, subtests):
    for method in ["standard", "layer"]:
        with subtests.test(method=method):
            settings = Settings(dataset="iris", method=method)
            point = LABELS.compute(settings).base.points[-1]
            it = point.data
            for k, direction in enumerate(DIRECTIONS):
                step = 1e-6 * point.norm * point.directions[k]
                both = [
                    it.model.unpack(it.model.pack() + sign * step).natural_parameter(it.X)
                    for sign in (1, -1)
                ]
                slopes = []
                for n in range(len(it.X)):
                    # The log-likelihood of one case, with the batch statistics of all.
                    up, down = (_log_likelihood(s[n], it.y[n]) for s in both)
                    slopes.append((up - down) / 2e-6)
                (row,) = rows(
                    "labels", settings, method=point.normalizer.title, direction=direction
                )
                assert row["observed"] == pytest.approx(
                    np.mean(np.square(slopes)), rel=1e-4, abs=1e-12
                )


def _log_likelihood(s: np.ndarray, y: np.ndarray) -> float:
    """Of independent Bernoulli outputs."""
    return float((y * s - np.log1p(np.exp(s))).sum())


def test_expected_curvature_is_that_of_the_matrix_and_of_labels_from_the_model(
    rows, matrix, subtests
):
    for method in ["standard", "batch", "layer"]:
        with subtests.test(method=method):
            settings = Settings(dataset="iris", method=method)
            F, result = matrix(settings), LABELS.compute(settings)
            point = result.base.points[-1]
            found = rows("labels", settings, method=point.normalizer.title)
            assert [row["direction"] for row in found] == DIRECTIONS
            for row, direction in zip(found, point.norm * point.directions, strict=True):
                assert row["expected"] == pytest.approx(direction @ F @ direction, abs=1e-12)
                assert abs(row["sampled"] - row["expected"]) <= 4 * row["standard_error"] + 1e-15


def test_ratios_are_over_the_expected_curvature_and_none_where_there_is_none():
    result = LABELS.compute(Settings(dataset="iris"))
    standard, batch = result.models
    assert batch.ratios[0] is None
    assert None not in standard.ratios
    for k, ratio in enumerate(standard.ratios):
        expected = standard.curvatures.expected[k]
        assert ratio.sampled * expected == pytest.approx(standard.curvatures.sampled[k])
        assert ratio.observed * expected == pytest.approx(standard.curvatures.observed[k])
        assert ratio.error * expected == pytest.approx(2 * standard.curvatures.error[k])
    figure = LABELS.figure(result, "light")
    assert sum("0, whatever" in note.text for note in figure.layout.annotations) == 1
    marks = [trace for trace in figure.data if trace.x[0] is not None]
    assert [trace.y[0] for trace in marks[:2]] == [
        standard.ratios[0].sampled,
        standard.ratios[0].observed,
    ]
    assert len(marks) == 2 * 5
