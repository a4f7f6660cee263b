"""How many of the cases held out a small network tells right, by the size of its batches.

The numbers are measured by `python -m tools.batch_accuracy` and kept in `accuracy.json`, with the
settings of the runs, so that a page has them at once. Batches of m learn at η = 0.05 m/32: at one η
for all sizes a small batch would cost every method, because its gradients are noisy.
Source of the proportion: Goyal et al., Accurate, Large Minibatch SGD, 2017; of such a comparison:
Wu and He, Group Normalization, 2018, Fig. 1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, final

import numpy as np

from normgeo.base.arrays import Array
from normgeo.base.progress import Progress, Report
from normgeo.datasets.dataset import Dataset
from normgeo.datasets.datasets import DATASETS
from normgeo.datasets.hold_out import Split, hold_out
from normgeo.dynamics.training import History, train
from normgeo.models.families import FAMILIES
from normgeo.models.network import Network
from normgeo.normalizers.named import NORMALIZERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.settings import Settings

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
METHODS = ("batch", "layer")
SEEDS = 10
WIDTHS = (64, 64)
RATE, RATE_AT = 0.05, 32  # η in batches of 32; in others in proportion
FILE = "accuracy.json"


@final
@dataclass(frozen=True, eq=False)
class Accuracy:
    """Shares of the cases held out that are told right after the last epoch.

    Attributes:
        sizes: m of the batches, (M,). shares: of each method, (M, seeds); NaN where a run has no
            end, because σ = 0 in one of its batches.
        tested: how many cases are held out. epochs: of the runs.
        rate, rate_at: η in batches of `rate_at`, to which it is in proportion in others.

    """

    sizes: tuple[int, ...]
    shares: dict[str, Array]
    tested: int
    epochs: int
    rate: float
    rate_at: int

    def at(self, method: str, m: int) -> tuple[float, float, float] | None:
        """Mean, least and largest share over the seeds; None where no run has an end."""
        if method not in self.shares or m not in self.sizes:
            return None
        shares = self.shares[method][self.sizes.index(m)]
        known = shares[~np.isnan(shares)]
        if not len(known):
            return None
        return float(known.mean()), float(known.min()), float(known.max())

    @property
    def seeds(self) -> int:
        """How many runs there are of each method and size."""
        return min(len(shares[0]) for shares in self.shares.values())


def rate_of(m: int) -> float:
    """η of batches of m."""
    return RATE * m / RATE_AT


def has_classes(data: Dataset) -> bool:
    """Whether the network can be trained to tell classes apart."""
    return FAMILIES[data.family].has_classes


def sizes_of(data: Dataset) -> tuple[int, ...]:
    """The sizes of batches that the cases for training allow."""
    return tuple(m for m in SIZES if m <= data.N - round(data.N / 5))


def trained(
    data: Dataset,
    split: Split,
    normalizer: Normalizer,
    m: int,
    *,
    epochs: int,
    rate: float,
    seed: int,
    progress: Report | Progress | None = None,
) -> History:
    """Train the small network of this page in batches of m, from the weights of a seed.

    Raises:
        ValueError: there is no z in the first batch.

    """
    rng = np.random.default_rng(seed)
    D = split.X_train.shape[1]
    start = Network.random(normalizer, data.family, WIDTHS, D, data.H, rng)
    return train(start, split, batch_size=m, epochs=epochs, rate=rate, seed=seed, progress=progress)


def count_right(key: str, method: str, m: int, seed: int) -> int | None:
    """How many held-out cases of a data set are told right after the last epoch.

    None where the run has no end, as σ = 0 in one of its batches.
    """
    data, normalizer = DATASETS[key].load(), NORMALIZERS[method]
    if normalizer.undefined(m, *WIDTHS):
        return None
    split = hold_out(data, seed=seed)
    history = trained(
        data, split, normalizer, m, epochs=Settings.epochs, rate=rate_of(m), seed=seed
    )
    if history.ended or history.test_accuracy is None:
        return None
    return round(float(history.test_accuracy[-1]) * len(split.y_test))


@cache
def kept(key: str) -> Accuracy | None:
    """What was measured on a data set; None for one without classes, or that is new."""
    measured = json.loads(files(__package__).joinpath(FILE).read_text("utf-8"))
    if key not in measured["data"]:
        return None
    found: dict[str, Any] = measured["data"][key]
    shares = {
        method: np.array(found["right"][method], dtype=float) / found["tested"]
        for method in found["right"]
    }
    runs = (measured["settings"][name] for name in ("epochs", "rate", "rate_at"))
    return Accuracy(tuple(found["sizes"]), shares, found["tested"], *runs)
