"""The z that ε shrinks most, pair by pair, against plain loops with and without ε."""

from typing import Any

import numpy as np
import pytest

from normgeo import NORMALIZERS, Normalizer, TrainedLayer, layer_report
from normgeo.checkpoints import epsilon
from normgeo.tables.epsilon import epsilon_records, epsilon_table
from normgeo.tables.layer import sentences
from tests.refused import says

RNG = np.random.default_rng(5)
N, H, D, EPS = 30, 6, 6, 0.3
W, STREAM = RNG.standard_normal((H, D)), RNG.standard_normal((N, H))
X = RNG.standard_normal((N, D)) * RNG.uniform(0.01, 2, (N, 1))


def layer(key: str, place: str, **given: Any) -> TrainedLayer:
    words = NORMALIZERS[key]
    stream = {"stream": STREAM} if place == "residual" else {}
    normalizer = Normalizer(*words.words, groups=words.groups, eps=EPS)
    return TrainedLayer("w", W, normalizer, place, **{"X": X, **stream, **given})


def z(key: str, place: str, eps: float) -> Any:
    a = {"after": X @ W.T, "before": X, "residual": STREAM + X @ W.T}[place]
    if key == "batch":
        return (a - a.mean(0)) / np.sqrt(a.var(0) + eps)
    parts = []
    for part in np.split(a, NORMALIZERS[key].groups, axis=1):
        c = part - (0 if key == "rms" else part.mean(1, keepdims=True))
        parts.append(c / np.sqrt((c**2).mean(1, keepdims=True) + eps))
    return np.concatenate(parts, axis=1)


@pytest.mark.pairwise("key", ["batch", "layer", "rms", "group"])
@pytest.mark.pairwise("place", ["after", "before", "residual"])
@pytest.mark.pairwise("at_once", [7, 10**6])
def test_pairs_are_those_of_z_with_and_without_epsilon(
    key: str, place: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(epsilon, "AT_ONCE", at_once)
    monkeypatch.setattr(epsilon, "KEPT", 50)
    monkeypatch.setattr(epsilon, "MAP", (4, 5))
    report = layer_report(layer(key, place))
    assert report.epsilon is not None
    pairs = report.epsilon.pairs
    assert pairs is not None
    without, there = z(key, place, 0), z(key, place, EPS)
    lost = np.abs(without) - np.abs(there)
    assert (pairs.size, len(pairs.lost)) == (N * H, 50)
    np.testing.assert_allclose(pairs.lost, np.sort(lost, axis=None)[::-1][:50])
    np.testing.assert_allclose(lost[pairs.cases, pairs.neurons], pairs.lost)
    np.testing.assert_allclose(pairs.z, there[pairs.cases, pairs.neurons])
    share = lost[pairs.cases, pairs.neurons] / np.abs(without)[pairs.cases, pairs.neurons]
    np.testing.assert_allclose(pairs.shorter, share)
    assert pairs.over == np.sum(lost / np.abs(without) > 0.01)
    assert list(pairs.map_neurons) == list(np.argsort(-lost.max(axis=0))[:4])
    assert list(pairs.map_cases) == list(np.argsort(-lost.max(axis=1))[:5])
    np.testing.assert_allclose(pairs.map, lost[np.ix_(pairs.map_cases, pairs.map_neurons)].T)
    records = epsilon_records(report).records()
    np.testing.assert_allclose(
        [one["z_without_eps"] for one in records], without[pairs.cases, pairs.neurons]
    )


def test_case_without_any_variance_has_no_z_to_lose() -> None:
    still = X.copy()
    still[3] = 0
    report = layer_report(layer("layer", "after", X=still))
    assert report.epsilon is not None
    assert report.epsilon.pairs is not None
    assert report.epsilon.shortened[3] == 1
    assert (report.epsilon.pairs.lost[report.epsilon.pairs.cases == 3] == 0).all()
    assert np.isfinite(report.epsilon.pairs.map).all()


def test_sums_beyond_the_largest_float_are_refused() -> None:
    with says(
        "The summed inputs of the layer, or their squares, exceed the largest float. Use smaller "
        "activations X."
    ):
        layer_report(layer("layer", "after", X=1e306 * X))


def test_table_tells_how_many_of_all_pairs_it_shows() -> None:
    table = epsilon_table(layer_report(layer("batch", "before")), 3)
    assert table.columns[0] == "feature"
    assert len(table.rows) == 3
    assert table.notes[1] == "The 3 of 180 pairs of which ε takes most."
    bare = layer_report(layer("batch", "after", X=None))
    with pytest.raises(ValueError, match=r"needs activations X, .*; 'w' lacks some of it"):
        epsilon_table(bare)


def test_note_tells_the_most_that_epsilon_shortens_by_in_percent() -> None:
    report = layer_report(layer("layer", "after"))
    lost = 1 - np.linalg.norm(z("layer", "after", EPS), axis=1) / np.sqrt(H)
    (said,) = [note for note in sentences(report) if "more than 1%" in str(note)]
    assert f"in {np.sum(lost > 0.01)} of {N} cases, by {100 * lost.max():.3g}% at most." in said
