"""Data sets: real ones that come with scikit-learn, and a synthetic plane for pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
PLANE_SEED = 0


class Table(NamedTuple):
    """What a source reads: raw features (N, D) and targets, (N,) labels or (N, H) values.

    The outputs are the classes of a categorical family, the columns of the targets otherwise.
    """

    features: Array
    targets: Array
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    class_names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Dataset:
    """Cases ready for a model: features X (N, D) without constant ones, and targets y.

    y is (N,) integer labels for the categorical family, otherwise (N, H) values. `family` is a key
    of FAMILIES. `raw` (N, D_raw) holds all features as they were measured, `kept` marks those in
    X, and `dropped` names the others. Standardized features have mean 0 and population variance 1,
    and so have Gaussian targets, which makes φ = 1 the variance of a model that explains nothing;
    counts and classes stay as they are. `units` (one for each name in `feature_names`) and
    `target_units` are those of the raw values, "" where there is none. All arrays are read-only.
    """

    key: str
    title: str
    description: str
    source: str
    family: str
    X: Array
    y: Array
    feature_names: tuple[str, ...]
    units: tuple[str, ...]
    target_names: tuple[str, ...]
    target_units: tuple[str, ...]
    class_names: tuple[str, ...]
    raw: Array
    raw_targets: Array
    kept: NDArray[np.bool_]
    dropped: tuple[str, ...]
    image_shape: tuple[int, int] | None
    standardized: bool
    _origin: tuple[DatasetSource, Table] = field(repr=False)

    @property
    def N(self) -> int:
        """The number of cases."""
        return len(self.X)

    @property
    def D(self) -> int:
        """The number of features that vary."""
        return len(self.feature_names)

    @property
    def H(self) -> int:
        """The number of outputs."""
        return len(self.target_names)

    @property
    def summary(self) -> str:
        """Name the sizes and what was dropped, in one sentence."""
        outputs = "1 output" if self.H == 1 else f"{self.H} outputs"
        dropped = f" ({', '.join(self.dropped)}: constant, dropped)" if self.dropped else ""
        return f"{self.title}: N = {self.N} cases, D = {self.D} features{dropped}, H = {outputs}."

    def as_images(self, values: ArrayLike, fill: float = 0.0) -> Array:
        """Lay (…, D) values of the kept features out as images; dropped pixels get `fill`.

        Raises ValueError where the features are not pixels.
        """
        if self.image_shape is None:
            raise ValueError(
                f"Only features that are pixels can be drawn as images; those of {self.title} "
                "are not. Use the digits."
            )
        pixels = np.full((*np.shape(values)[:-1], self.kept.size), fill)
        pixels[..., self.kept] = values
        return pixels.reshape(*pixels.shape[:-1], *self.image_shape)

    def subset(self, n: int, seed: int) -> Dataset:
        """Take n cases at random, in their old order; drop and standardize anew among them.

        Raises ValueError for n outside 2, …, N, or where nothing varies among them.
        """
        if not 2 <= n <= self.N:
            raise ValueError(f"A subset must have from 2 to all {self.N} cases; got n={n}.")
        rows = np.sort(np.random.default_rng(seed).choice(self.N, n, replace=False))
        source, table = self._origin
        part = table._replace(features=table.features[rows], targets=table.targets[rows])
        return _prepare(source, part, self.standardized)

    def one_against_rest(self) -> Dataset:
        """Turn labels into H independent Bernoulli targets (N, H), one for each class.

        Raises ValueError where there are no labels.
        """
        if self.family != "categorical":
            raise ValueError(
                "One-against-rest needs class labels, a categorical data set; "
                f"{self.title} has the family {self.family}."
            )
        source, table = self._origin
        indicators = (table.targets[:, None] == np.arange(self.H)).astype(float)
        split = table._replace(targets=indicators)
        return _prepare(replace(source, family="bernoulli"), split, self.standardized)


@dataclass(frozen=True)
class DatasetSource:
    """Where a data set comes from: what is known of it before it is read.

    `unit` is that of every feature, `units` those of single features and targets, by name.
    """

    key: str
    title: str
    description: str
    family: str
    source: str
    read: Callable[[], Table] = field(repr=False)
    unit: str = ""
    units: tuple[tuple[str, str], ...] = ()
    image_shape: tuple[int, int] | None = None

    def load(self, standardize: bool = True) -> Dataset:
        """Return the data, read once and then remembered."""
        return _load(self, standardize)


def load(key: str, standardize: bool = True) -> Dataset:
    """Return the data set with this key of DATASETS.

    Raises ValueError for an unknown key.

    >>> load("iris").summary
    'Iris: N = 150 cases, D = 4 features, H = 3 outputs.'
    """
    if key not in DATASETS:
        raise ValueError(f"A data set must be one of {', '.join(DATASETS)}; got {key!r}.")
    return DATASETS[key].load(standardize)


@cache
def _load(source: DatasetSource, standardize: bool) -> Dataset:
    return _prepare(source, source.read(), standardize)


def _prepare(source: DatasetSource, table: Table, standardize: bool) -> Dataset:
    raw, targets = _read_only(table.features), _read_only(table.targets)
    kept = np.ptp(raw, axis=0) > 0
    if not kept.any() or (source.family == "gaussian" and not np.ptp(targets, axis=0).all()):
        raise ValueError(
            f"Some feature and every target of {source.title} must vary; among these {len(raw)} "
            "cases they do not. Take more cases or another seed."
        )
    names = [name for name, keep in zip(table.feature_names, kept, strict=True) if keep]
    X, y, units = raw[:, kept], targets, dict(source.units)
    if standardize:
        X = _standardize(X)
        y = _standardize(y) if source.family == "gaussian" else y
    return Dataset(
        key=source.key,
        title=source.title,
        description=source.description,
        source=source.source,
        family=source.family,
        X=_read_only(X),
        y=_read_only(y),
        feature_names=tuple(names),
        units=tuple(units.get(name, source.unit) for name in names),
        target_names=table.target_names,
        target_units=tuple(units.get(name, "") for name in table.target_names),
        class_names=table.class_names,
        raw=raw,
        raw_targets=targets,
        kept=_read_only(kept),
        dropped=tuple(name for name in table.feature_names if name not in names),
        image_shape=source.image_shape,
        standardized=standardize,
        _origin=(source, table),
    )


def _standardize(values: Array) -> Array:
    centered = values - values.mean(axis=0)
    return np.asarray(centered / centered.std(axis=0))


def _read_only(values: Array) -> Array:
    values = np.array(values)  # a copy: the caller's stays writeable
    values.setflags(write=False)
    return values


# Sources. Importing scikit-learn takes a second, so only reading does it.


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
            "Digits",
            "Handwritten digits as 8 × 8 images, ten classes.",
            "categorical",
            "Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI 1998 (test set)",
            partial(_classified, "digits", tuple("0123456789")),
            "ink (0–16)",
            image_shape=(8, 8),
        ),
        DatasetSource(
            "iris",
            "Iris",
            "Sepals and petals of three species of iris.",
            "categorical",
            "Fisher, Annals of Eugenics 7, 1936",
            partial(_classified, "iris", ("setosa", "versicolor", "virginica")),
            "cm",
        ),
        DatasetSource(
            "wine",
            "Wine",
            "Chemical analyses of wines from three cultivators.",
            "categorical",
            "Forina et al., PARVUS, Genoa; UCI Wine",
            partial(_classified, "wine", ("cultivator 1", "cultivator 2", "cultivator 3")),
        ),
        DatasetSource(
            "breast_cancer",
            "Breast cancer",
            "Cell nuclei of breast masses: is a mass benign?",
            "bernoulli",
            "Wolberg, Street and Mangasarian, Breast Cancer Wisconsin, UCI 1995",
            _breast_cancer,
        ),
        DatasetSource(
            "diabetes",
            "Diabetes",
            "Ten measurements and the disease a year later.",
            "gaussian",
            "Efron, Hastie, Johnstone and Tibshirani, Annals of Statistics 32, 2004",
            _diabetes,
            units=(("age", "years"), ("body mass index", "kg/m²"), ("blood pressure", "mm Hg")),
        ),
        DatasetSource(
            "linnerud",
            "Linnerud",
            "What exercise counts say of the bodies of twenty men.",
            "gaussian",
            TENENHAUS,
            _linnerud,
            units=FITNESS,
        ),
        DatasetSource(
            "linnerud_reversed",
            "Linnerud reversed",
            "What the bodies of twenty men say of their exercise counts.",
            "poisson",
            TENENHAUS,
            _linnerud_reversed,
            units=FITNESS,
        ),
        DatasetSource(
            "plane",
            "Plane",
            "Three overlapping clouds of points in a plane.",
            "categorical",
            f"synthetic: unit normal noise around a triangle, seed {PLANE_SEED}",
            _plane,
        ),
    )
}
