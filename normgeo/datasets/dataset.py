"""What a data set is: cases ready for a model, prepared from the table of a source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normgeo.base.arguments import seed_number, whole_number
from normgeo.base.arrays import Array
from normgeo.base.refusal import Refusal
from normgeo.base.text import text


class Table(NamedTuple):
    """The table of a source: raw features (N, D) and targets, (N,) labels or (N, H) values.

    The outputs are the classes of a categorical family, the columns of the targets otherwise.
    """

    features: Array
    targets: Array
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    class_names: tuple[str, ...] = ()


@final
@dataclass(frozen=True, eq=False)
class Dataset:
    """Cases ready for a model: features X (N, D) without constant ones, and targets y.

    y is (N,) integer labels, or (N, H) values. `family` is a key of FAMILIES. `raw` (N, D_raw)
    contains all measured features, `kept` marks those in X, and `dropped` names the others.
    Standardized features have mean 0 and population variance 1, and so have measured targets, which
    makes φ = 1 the variance of a model that explains nothing; counts and classes are not
    standardized. `units` (one for each name in `feature_names`) and `target_units` are those of the
    raw values, "" if there is none. All arrays are read-only.
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
    def labelled(self) -> bool:
        """Whether the targets are labels of classes."""
        return self.y.ndim == 1

    @property
    def summary(self) -> str:
        """Return the sizes and the dropped features, in one sentence."""
        outputs = text("1 output") if self.H == 1 else text("{H} outputs", H=self.H)
        dropped = text(" ({names!s}: constant, dropped)", names=", ".join(self.dropped))
        return text(
            "{title!s}: N = {N} cases, D = {D} features{dropped}, H = {outputs}.",
            title=self.title,
            N=self.N,
            D=self.D,
            dropped=dropped if self.dropped else "",
            outputs=outputs,
        )

    def as_images(self, values: ArrayLike, fill: float = 0.0) -> Array:
        """Arrange (…, D) values of the kept features as images; dropped pixels get `fill`.

        Raises ValueError if the features are not pixels.
        """
        if self.image_shape is None:
            raise Refusal(
                "Only features that are pixels can be drawn as images; those of {title!s} are "
                "not. Use the digits.",
                title=self.title,
            )
        pixels = np.full((*np.shape(values)[:-1], self.kept.size), fill)
        pixels[..., self.kept] = values
        return pixels.reshape(*pixels.shape[:-1], *self.image_shape)

    def subset(self, n: int, seed: int) -> Dataset:
        """Return n random cases in their original order, prepared again: dropped and standardized.

        Raises ValueError for n outside 2, …, N, or if no feature varies among them.
        """
        n = whole_number("n", n, 2, self.N, text("all cases"))
        rows = np.sort(np.random.default_rng(seed_number(seed)).choice(self.N, n, replace=False))
        source, table = self._origin
        part = table._replace(features=table.features[rows], targets=table.targets[rows])
        return _prepare(source, part, self.standardized)

    @lru_cache(maxsize=16)  # noqa: B019 - data sets are few, and loaded once
    def one_against_rest(self) -> Dataset:
        """Turn labels into H independent Bernoulli targets (N, H), one for each class.

        Raises ValueError if there are no labels.
        """
        if not self.labelled:
            raise Refusal(
                "One-against-rest needs class labels, a categorical data set; {title!s} has "
                "the family {family}.",
                title=self.title,
                family=self.family,
            )
        source, table = self._origin
        indicators = (table.targets[:, None] == np.arange(self.H)).astype(float)
        split = table._replace(targets=indicators)
        return _prepare(replace(source, family="bernoulli"), split, self.standardized)


@final
@dataclass(frozen=True)
class DatasetSource:
    """The source of a data set, and what is known before it is read.

    `family` is the key of the usual family for its targets. `unit` is that of every feature,
    `units` those of single features and targets, by name. `measured` says whether the targets are
    measurements, which are standardized, and not counts or classes.
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
    measured: bool = False

    def load(self, standardize: bool = True) -> Dataset:
        """Return the data, read once and then cached."""
        return _load(self, standardize)


@cache
def _load(source: DatasetSource, standardize: bool) -> Dataset:
    return _prepare(source, source.read(), standardize)


def _prepare(source: DatasetSource, table: Table, standardize: bool) -> Dataset:
    raw, targets = _read_only(table.features), _read_only(table.targets)
    kept = np.ptp(raw, axis=0) > 0
    if not kept.any() or (source.measured and not np.ptp(targets, axis=0).all()):
        raise Refusal(
            "Some feature and every target of {title!s} must vary; among these {cases} cases "
            "they do not. Take more cases or another seed.",
            title=source.title,
            cases=len(raw),
        )
    names = [name for name, keep in zip(table.feature_names, kept, strict=True) if keep]
    X, y, units = raw[:, kept], targets, dict(source.units)
    if standardize:
        X = _standardize(X)
        y = _standardize(y) if source.measured else y
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
    values = np.array(values)  # copy: the caller's array stays writable
    values.setflags(write=False)
    return values
