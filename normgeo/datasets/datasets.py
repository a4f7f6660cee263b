"""The data sets: real ones that come with scikit-learn, and a synthetic plane for pictures."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from normgeo.base.arguments import word_of
from normgeo.base.text import text
from normgeo.datasets.dataset import Dataset, DatasetSource, Table

PLANE_SEED = 0

# Readers. Importing scikit-learn takes a second, so only reading imports it.


def _bundled(name: str, **options: Any) -> Any:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(**options)


def _classified(name: str, class_names: tuple[str, ...]) -> Table:
    bunch = _bundled(name)
    features = tuple(str(feature).removesuffix(" (cm)") for feature in bunch.feature_names)
    return Table(bunch.data, bunch.target, features, class_names, class_names)


def _breast_cancer() -> Table:
    table = _classified("breast_cancer", ("malignant", "benign"))
    return table._replace(targets=table.targets[:, None].astype(float), target_names=("benign",))


def _diabetes() -> Table:
    bunch = _bundled("diabetes", scaled=False)
    names = (
        "age",
        "sex",
        "body mass index",
        "blood pressure",
        "total cholesterol",
        "LDL cholesterol",
        "HDL cholesterol",
        "cholesterol / HDL",
        "log triglycerides",
        "blood sugar",
    )
    return Table(bunch.data, bunch.target[:, None], names, ("disease progression",))


def _linnerud() -> Table:
    bunch = _bundled("linnerud")
    names = (tuple(map(str.lower, names)) for names in (bunch.feature_names, bunch.target_names))
    return Table(bunch.data, bunch.target, *names)


def _linnerud_reversed() -> Table:
    features, targets, feature_names, target_names, _ = _linnerud()
    return Table(targets, features, target_names, feature_names)


def _plane() -> Table:
    labels = np.repeat(np.arange(3), 50)
    angles = 2 * np.pi * labels / 3 + np.pi / 2
    noise = np.random.default_rng(PLANE_SEED).standard_normal((labels.size, 2))
    points = 2 * np.column_stack([np.cos(angles), np.sin(angles)]) + noise
    names = ("top", "left", "right")
    return Table(points, labels, ("first coordinate", "second coordinate"), names, names)


FITNESS = (
    ("weight", "lb"),
    ("waist", "in"),
    ("pulse", "beats/min"),
    ("chins", "repetitions"),
    ("situps", "repetitions"),
    ("jumps", "repetitions"),
)
TENENHAUS = "Linnerud's fitness data, in Tenenhaus, La régression PLS, Technip 1998"

DATASETS: dict[str, DatasetSource] = {
    source.key: source
    for source in (
        DatasetSource(
            "digits",
            text("Digits"),
            text("Handwritten digits as 8 × 8 images, ten classes."),
            "categorical",
            "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI 1998 (test set)",
            partial(_classified, "digits", tuple("0123456789")),
            "ink (0–16)",
            image_shape=(8, 8),
        ),
        DatasetSource(
            "iris",
            text("Iris"),
            text("Sepals and petals of three species of iris."),
            "categorical",
            "Fisher, Annals of Eugenics 7, 1936",
            partial(_classified, "iris", ("setosa", "versicolor", "virginica")),
            "cm",
        ),
        DatasetSource(
            "wine",
            text("Wine"),
            text("Chemical analyses of wines from three cultivators."),
            "categorical",
            "Forina et al., PARVUS, Genoa; UCI Wine",
            partial(_classified, "wine", ("cultivator 1", "cultivator 2", "cultivator 3")),
        ),
        DatasetSource(
            "breast_cancer",
            text("Breast cancer"),
            text("Cell nuclei of breast masses: is a mass benign?"),
            "bernoulli",
            "Wolberg, Street and Mangasarian, Breast Cancer Wisconsin, UCI 1995",
            _breast_cancer,
        ),
        DatasetSource(
            "diabetes",
            text("Diabetes"),
            text("Ten measurements and the disease a year later."),
            "gaussian",
            "Efron, Hastie, Johnstone and Tibshirani, Annals of Statistics 32, 2004",
            _diabetes,
            measured=True,
            units=(("age", "years"), ("body mass index", "kg/m²"), ("blood pressure", "mm Hg")),
        ),
        DatasetSource(
            "linnerud",
            text("Linnerud"),
            text("Twenty men: body measurements, predicted from exercise counts."),
            "gaussian",
            TENENHAUS,
            _linnerud,
            measured=True,
            units=FITNESS,
        ),
        DatasetSource(
            "linnerud_reversed",
            text("Linnerud reversed"),
            text("Twenty men: exercise counts, predicted from body measurements."),
            "poisson",
            TENENHAUS,
            _linnerud_reversed,
            units=FITNESS,
        ),
        DatasetSource(
            "plane",
            text("Plane"),
            text("Three overlapping clouds of points in a plane."),
            "categorical",
            f"synthetic: unit normal noise around a triangle, seed {PLANE_SEED}",
            _plane,
        ),
    )
}


def load(key: str, standardize: bool = True) -> Dataset:
    """Return the data set with this key of DATASETS.

    Raises ValueError for an unknown key.

    >>> load("iris").summary
    'Iris: N = 150 cases, D = 4 features, H = 3 outputs.'
    """
    return DATASETS[word_of("key", key, DATASETS)].load(standardize)
