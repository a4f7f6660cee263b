"""The Symmetry pictures, against numpy's spectra of the matrices."""

import re
from dataclasses import replace

import numpy as np
import pytest

from normgeo.base.progress import Stop
from normgeo.normalizers.named import NORMALIZERS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from tests.pairwise import loops

SYMMETRY, COUPLING = PICTURES["symmetry"], PICTURES["coupling"]
SMALL = Settings(dataset="wine")
WORDS = ("none", "batch", "layer", "weight")


def spectrum(F: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(np.linalg.eigvalsh(F)[::-1], 0))


def test_roots_are_those_of_the_eigenvalues_of_the_matrix(matrix, weights, subtests):
    for method in NORMALIZERS:
        with subtests.test(method=method):
            settings = Settings(dataset="wine", method=method, neurons=6)
            result = COUPLING.compute(settings)
            for null, roots, coupling in (
                (result.exact.null, result.roots, "exact"),
                (result.paper, result.paper_roots, "paper"),
            ):
                expected = spectrum(weights(matrix(settings, coupling), 6, 13))
                np.testing.assert_allclose(roots, expected, atol=1e-6 * expected[0])
                assert null.dimension == (expected < 1e-6 * expected[0]).sum()


def test_tables_have_the_values_of_the_pictures(rows):
    result = SYMMETRY.compute(Settings(dataset="wine", method="layer"))
    values = [row[2] for row in SYMMETRY.table(result).rows if row[0] == "singular value"]
    np.testing.assert_array_equal(values, result.null.singular_values)
    answers = [row[3] for row in SYMMETRY.table(result).rows if row[0] == "singular value"]
    assert answers == ["not null"] * 38 + ["null"] * 14
    new = [row[7] for row in SYMMETRY.table(result).rows if row[0] == "reason"]
    assert sum(new) == result.null.dimension == result.expected == 14
    spectra = COUPLING.compute(Settings(dataset="wine", method="layer"))
    both = np.array([row[1:] for row in COUPLING.table(spectra).rows])
    np.testing.assert_array_equal(both[:, 0], spectra.roots)
    np.testing.assert_array_equal(both[:, 1], spectra.paper_roots)


def test_bars_are_the_reasons_and_their_counts():
    result = SYMMETRY.compute(Settings(dataset="wine", method="layer"))
    figure = SYMMETRY.figure(result, "light")
    (bars,) = [trace for trace in figure.data if trace.type == "bar"]
    assert list(bars.x) == [1, 13, 0]
    titles = [note.text for note in figure.layout.annotations if note.yref == "y2"]
    assert titles == ["weight matrix re-scaling", "weight matrix re-centering", "no known reason"]
    assert "13 independent tangents" in bars.hovertext[1].replace("<br>", " ")
    words = " ".join(note.text for note in figure.layout.annotations).replace("<br>", " ")
    assert "the formula gives the same: GD + G = 13 + 1 = 14" in words
    assert not re.search(r"\de[-−+]", words)


def test_grid_has_the_dimension_by_formula_of_all_sixteen_methods():
    """H = 4, D = 13, G = 1: 0 H G H, with a layer center GD + 1, with a weight center H more."""
    result = SYMMETRY.compute(Settings(dataset="wine", method="layer"))
    rows = [[result.grid[center, scale] for scale in WORDS] for center in WORDS]
    assert rows == [[0, 4, 1, 4], [0, 4, 1, 4], [13, 14, 14, 14], [4, 8, 5, 8]]
    assert result.grid[result.normalizer.words] == result.expected


def test_undecided_directions_are_drawn_and_told_apart():
    result = SYMMETRY.compute(Settings(dataset="wine", method="layer"))
    null = result.null
    undecided = replace(null, tolerance=1.01 * null.singular_values[null.seen - 1])
    assert (undecided.undecided, undecided.counts) == (1, "14 null, 1 cannot be decided in float64")
    figure = SYMMETRY.figure(replace(result, null=undecided), "light")
    lines = {trace.name: len(trace.x) for trace in figure.data if trace.type == "scatter"}
    assert lines == {"seen": 37, "undecided": 1, "null": 14}
    words = " ".join(note.text for note in figure.layout.annotations).replace("<br>", " ")
    assert "<b>14 of 52 directions are null</b> <b>1 cannot be decided in float64</b>" in words
    assert "= 14: float64 does not decide" in words
    assert "undecided in float64 up to" in words
    rows = SYMMETRY.table(replace(result, null=undecided)).rows
    assert [row[3] for row in rows[36:39]] == ["not null", "undecided", "null"]


def test_all_pictures_of_the_page_share_one_null_space():
    settings = Settings(dataset="wine", method="layer", seed=11)
    found = SYMMETRY.compute(settings)
    assert COUPLING.compute(settings).exact.null is found.null
    assert PICTURES["walk"].compute(settings).found.explanation is found.explanation


def test_stopped_computation_has_what_came_before(subtests):
    for stage in [1, 2]:
        with subtests.test(stage=stage):
            told = []

            def stop(done: int, steps: int, stage=stage, told=told) -> None:
                told.append((done, steps))
                if done == stage:
                    raise Stop

            result = SYMMETRY.compute(SMALL, stop)
            assert told == [(done, 2) for done in range(1, stage + 1)]
            assert result.null.dimension == 4
            assert (result.explanation is None) == (stage < 2)
            words = [note.text for note in SYMMETRY.figure(result, "light").layout.annotations]
            assert any("Stopped before" in line for line in words) == (stage < 2)
            assert (len(SYMMETRY.table(result).rows) == 52) == (stage < 2)


def test_stopped_spectra_have_what_came_before(subtests):
    for stage in [2, 4]:
        with subtests.test(stage=stage):

            def stop(done: int, steps: int, stage=stage) -> None:
                if done / steps == stage / 4:
                    raise Stop

            result = COUPLING.compute(Settings(dataset="wine", method="layer"), stop)
            assert (result.paper is None) == (stage < 4)
            assert len(COUPLING.figure(result, "light").data) == (2 if stage == 4 else 1)
            assert (COUPLING.table(result).rows[0][2] is None) == (stage < 4)


@pytest.mark.parametrize("rows", loops(NORMALIZERS, ["light", "dark"], of=1))
def test_every_method_has_both_pictures(captions, rows, subtests):
    for method, theme in rows:
        with subtests.test(method=method, theme=theme):
            settings = Settings(
                dataset="iris", neurons=6, method=method, eps=1e-5, statistics="frozen"
            )
            result = SYMMETRY.compute(settings)
            title = NORMALIZERS[method].title
            words = captions("symmetry", result, theme)
            assert f"<b>{title}</b>" in words
            assert "ε = 1 · 10⁻⁵" in words
            coupling = captions("coupling", COUPLING.compute(settings), theme)
            assert f"<b>{title}</b>" in coupling


def test_too_many_weights_are_a_sentence():
    with pytest.raises(ValueError, match=r"up to 1,024 weights; H = 40 .* have 2,440\. Use fewer"):
        SYMMETRY.compute(Settings(neurons=40))
