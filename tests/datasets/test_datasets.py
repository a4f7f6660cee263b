"""Data sets against scikit-learn's own arrays."""

import pickle

import numpy as np
import pytest
import sklearn.datasets

from normgeo.datasets.datasets import DATASETS, load
from normgeo.models.families import FAMILIES
from tests.refused import says

every_dataset = pytest.mark.pairwise("key", DATASETS)
TWO_EQUAL_WAISTS = 3  # seed of a draw with two men who have the same waist
either = pytest.mark.pairwise("standardize", [True, False])


def test_sizes_and_families_are_those_of_the_sources(subtests):
    for key, family, N, D, H in [
        ("digits", "categorical", 1797, 61, 10),
        ("iris", "categorical", 150, 4, 3),
        ("wine", "categorical", 178, 13, 3),
        ("breast_cancer", "bernoulli", 569, 30, 1),
        ("diabetes", "gaussian", 442, 10, 1),
        ("linnerud", "gaussian", 20, 3, 3),
        ("linnerud_reversed", "poisson", 20, 3, 3),
        ("plane", "categorical", 150, 2, 3),
    ]:
        with subtests.test(key=key):
            data = load(key)
            assert (data.family, data.N, data.D, data.H) == (family, N, D, H)


def test_raw_values_are_those_of_scikit_learn(subtests):
    for key, options in [
        ("digits", {}),
        ("iris", {}),
        ("wine", {}),
        ("breast_cancer", {}),
        ("linnerud", {}),
        ("diabetes", {"scaled": False}),
    ]:
        with subtests.test(key=key):
            data = load(key, standardize=False)
            bunch = getattr(sklearn.datasets, f"load_{key}")(**options)
            np.testing.assert_array_equal(data.raw, bunch.data)
            np.testing.assert_array_equal(data.X, bunch.data[:, np.ptp(bunch.data, axis=0) > 0])
            np.testing.assert_array_equal(data.y.ravel(), bunch.target.ravel())


def test_linnerud_reversed_predicts_the_exercise_counts():
    bunch = sklearn.datasets.load_linnerud()
    data = load("linnerud_reversed")
    np.testing.assert_array_equal(data.raw, bunch.target)
    np.testing.assert_array_equal(data.y, bunch.data)
    assert data.target_names == ("chins", "situps", "jumps")
    assert data.target_units == ("repetitions",) * 3
    assert dict(zip(data.feature_names, data.units, strict=True)) == {
        "weight": "lb",
        "waist": "in",
        "pulse": "beats/min",
    }


def test_three_pixels_of_the_digits_are_constant_and_named():
    data, images = load("digits"), sklearn.datasets.load_digits().images
    constant = [(r, c) for r in range(8) for c in range(8) if len(set(images[:, r, c])) == 1]
    assert data.dropped == tuple(f"pixel_{r}_{c}" for r, c in constant)
    assert data.dropped == ("pixel_0_0", "pixel_4_0", "pixel_4_7")
    np.testing.assert_array_equal(data.raw.reshape(-1, *data.image_shape), images)
    assert data.summary == (
        "Digits: N = 1797 cases, D = 61 features (pixel_0_0, pixel_4_0, pixel_4_7: constant, "
        "dropped), H = 10 outputs."
    )


def test_images_are_laid_out_from_the_kept_pixels():
    data = load("digits", standardize=False)
    np.testing.assert_array_equal(data.as_images(data.X), sklearn.datasets.load_digits().images)
    image = data.as_images(np.ones(61), fill=-1)
    assert [tuple(place) for place in np.argwhere(image == -1)] == [(0, 0), (4, 0), (4, 7)]


@every_dataset
def test_standardized_features_have_mean_zero_and_population_variance_one(key):
    data, raw = load(key), load(key, standardize=False)
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose((data.X**2).mean(axis=0), 1, rtol=1e-12)
    for j in range(data.D):
        assert np.corrcoef(data.X[:, j], raw.X[:, j])[0, 1] == pytest.approx(1)
    if data.family == "gaussian":
        np.testing.assert_allclose(data.y.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose((data.y**2).mean(axis=0), 1, rtol=1e-12)
    else:
        np.testing.assert_array_equal(data.y, raw.y)
    np.testing.assert_array_equal(data.raw, raw.raw)
    np.testing.assert_array_equal(data.raw_targets, raw.y)


@every_dataset
@either
def test_data_sets_are_consistent(key, standardize):
    data = DATASETS[key].load(standardize)
    assert data.standardized == standardize
    assert data.key == key
    assert data.X.shape == (data.N, data.D) == (data.N, len(data.units))
    assert data.kept.sum() == data.D == data.raw.shape[1] - len(data.dropped)
    assert FAMILIES[data.family].encode(data.y, data.H).shape == (data.N, data.H)
    assert len(data.target_units) == data.H
    assert len({*data.feature_names, *data.dropped}) == data.raw.shape[1]
    if data.family == "categorical":
        assert data.class_names == data.target_names
        assert set(data.y) == set(range(data.H))
    assert data.source
    assert data.description.endswith((".", "?"))


def test_classes_have_their_names():
    iris = sklearn.datasets.load_iris()
    assert load("iris").class_names == tuple(iris.target_names)
    cancer = sklearn.datasets.load_breast_cancer()
    assert load("breast_cancer").class_names == tuple(cancer.target_names)
    assert load("breast_cancer").target_names == (cancer.target_names[1],)
    assert load("digits").class_names == tuple(
        map(str, sklearn.datasets.load_digits().target_names)
    )


def test_units_are_those_of_the_raw_values():
    assert load("iris").units == ("cm",) * 4
    assert load("iris").feature_names[0] == "sepal length"
    diabetes = load("diabetes")
    assert dict(zip(diabetes.feature_names, diabetes.units, strict=True))["age"] == "years"


@every_dataset
def test_loading_is_remembered_and_arrays_are_read_only(key):
    data = load(key)
    assert DATASETS[key].load() is data
    for array in (data.X, data.y, data.raw, data.raw_targets, data.kept):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    copy = pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(copy.subset(9, 0).X, data.subset(9, 0).X)


def test_the_plane_is_the_same_whenever_it_is_read():
    first, second = DATASETS["plane"].read(), DATASETS["plane"].read()
    np.testing.assert_array_equal(first.features, second.features)
    centers = [first.features[first.targets == k].mean(axis=0) for k in range(3)]
    expected = 2 * np.array([[0, 1], [-np.sqrt(0.75), -0.5], [np.sqrt(0.75), -0.5]])
    np.testing.assert_allclose(centers, expected, atol=5 / np.sqrt(50))


def test_a_subset_drops_and_standardizes_anew():
    data = load("digits")
    part = data.subset(40, seed=3)
    np.testing.assert_array_equal(part.X, data.subset(40, seed=3).X)
    assert not np.array_equal(part.raw, data.subset(40, seed=4).raw)
    assert part.N == 40
    assert set(part.dropped) > set(data.dropped)
    np.testing.assert_allclose(part.X.std(axis=0), 1, rtol=1e-12)
    places = {row.tobytes(): place for place, row in enumerate(data.raw)}
    rows = [places[row.tobytes()] for row in part.raw]
    assert rows == sorted(set(rows))
    np.testing.assert_array_equal(part.y, data.y[rows])


def test_one_against_rest_has_a_bernoulli_target_for_each_class():
    data = load("iris")
    split = data.one_against_rest()
    assert (split.family, split.H, split.subset(10, 0).family) == ("bernoulli", 3, "bernoulli")
    np.testing.assert_array_equal(split.y, FAMILIES["categorical"].encode(data.y, 3))
    np.testing.assert_array_equal(split.X, data.X)


def test_bad_requests_are_explained():
    with says(f"`key` must be one of {', '.join(DATASETS)}; got 'mnist'."):
        load("mnist")
    for n in (1, 21):
        with says(f"`n` must be a whole number from 2 to 20, all cases; got {n}."):
            load("linnerud").subset(n, seed=0)
    with says(
        "Some feature and every target of Linnerud must vary; among these 2 cases they do not. "
        "Take more cases or another seed."
    ):
        load("linnerud").subset(2, seed=TWO_EQUAL_WAISTS)
    with says(
        "One-against-rest needs class labels, a categorical data set; "
        "Linnerud has the family gaussian."
    ):
        load("linnerud").one_against_rest()
    with says(
        "Only features that are pixels can be drawn as images; those of Iris are not. "
        "Use the digits."
    ):
        load("iris").as_images(np.ones(4))
