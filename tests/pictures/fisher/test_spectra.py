"""Spectra of the Fisher information, against numpy's of the matrix."""

import numpy as np

from normgeo.pictures import PICTURES
from normgeo.settings import Settings

SPECTRA = PICTURES["spectra"]


def test_spectrum_is_that_of_the_matrix(rows, matrix, subtests):
    for method in ["standard", "batch", "layer"]:
        with subtests.test(method=method):
            settings = Settings(dataset="wine", method=method)
            mine = rows("spectra", settings, method=settings.normalizer.title)
            expected = np.linalg.eigvalsh(matrix(settings))[::-1]
            values = np.array([row["eigenvalue"] for row in mine])
            np.testing.assert_allclose(values, expected, atol=1e-12 * expected[0])
            shares = [row["share_of_trace_so_far"] for row in mine]
            np.testing.assert_allclose(shares, expected.cumsum() / expected.sum(), atol=1e-9)


def test_figure_says_how_many_directions_carry_nine_tenths(matrix):
    settings = Settings(dataset="wine", method="layer")
    values = np.linalg.eigvalsh(matrix(settings))[::-1]
    carry = int((values.cumsum() < 0.9 * values.sum()).sum()) + 1
    null = int((values < 1e-10).sum())
    result = SPECTRA.compute(settings)
    assert result.models[-1].carriers == carry
    words = SPECTRA.figure(result, "light").layout.annotations[0].text
    assert words.endswith(f"{carry} directions carry 90%, {null} are 0 up to rounding")


def test_large_spectrum_has_its_largest_eigenvalues_and_says_so():
    result = SPECTRA.compute(Settings(neurons=20))
    assert [len(each.values) for each in result.models] == [100, 100]
    assert not any(each.spectrum.complete for each in result.models)
    assert [each.carriers for each in result.models] == [None, None]
    assert "The 100 largest eigenvalues" in result.notes[0]
    share = result.models[-1].shares[-1]
    words = SPECTRA.figure(result, "light").layout.annotations[0].text
    assert words.endswith(f"100 carry {share:.0%}")
