"""The lines of NumPy that average over the axes of each method and print z of the marked entry."""

from __future__ import annotations

import json
from collections.abc import Iterator

from normgeo.normalizers.shared_statistics import SHARINGS
from normgeo.pictures.batch.axes import NEURONS, Axes, Shared
from normgeo.pictures.in_numpy.script import imports, number_of
from normgeo.settings import Settings

START = """\
data = DATASETS["{dataset}"].load(standardize={standardize})
rng = np.random.default_rng({seed})
W = rng.standard_normal(({neurons}, data.D)) / np.sqrt(data.D)
batch = rng.permutation(data.N)[:{m}]
"""

SUMMED = """\
A = data.X[batch] @ W.T  # cases × neurons
"""

MAPS = """\
images = data.raw[batch].reshape(-1, *data.image_shape)
A = feature_maps(images)  # cases × channels × height × width
"""

AVERAGE = """\
def z(values, place, over, groups):
    N, C = values.shape[:2]
    blocks = values.reshape(N, groups, C // groups, -1)
    mu = blocks.mean(axis=over, keepdims=True)
    sigma = blocks.std(axis=over, keepdims=True)
    return ((blocks - mu) / sigma).reshape(values.shape)[place]


# Axes of blocks: cases, groups, channels of a group, positions.
"""


def script(settings: Settings, result: Axes) -> str:
    """Return a script that prints z of the marked entry; "" where no σ is above 0."""
    prints = "\n".join(_prints(settings, result))
    if not prints:
        return ""
    shared = "from normgeo.normalizers.shared_statistics import feature_maps"
    start = START.format(
        dataset=settings.dataset,
        standardize=settings.features != "raw",
        seed=settings.seed,
        neurons=NEURONS,
        m=result.opens_at,
    )
    return "\n".join(
        (
            imports(
                "from normgeo.datasets.datasets import DATASETS",
                *((shared,) if result.images else ()),
                settings=False,
            ),
            start + (MAPS if result.images else SUMMED),
            "",
            number_of(3),
            AVERAGE + prints,
            "",
        )
    )


def _prints(settings: Settings, result: Axes) -> Iterator[str]:
    """A line for each method that has a z."""
    for key, found in result.panels[result.opens_at].items():
        if isinstance(found, Shared) and found.entry.z is not None:
            sharing = SHARINGS[key]
            over = (2, 3) if sharing.within_case else (0, 2, 3)
            groups = settings.groups if sharing.takes_groups else 1
            groups = result.values.shape[1] if sharing.channels_apart else groups
            title = json.dumps(f"{sharing.title}: z =", ensure_ascii=False)
            yield f"print({title}, number(z(A, {result.mark}, {over}, {groups})))"
