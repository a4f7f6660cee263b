"""The lines of NumPy that average over the axes of each method and print z of the marked entry."""

from __future__ import annotations

import json
from collections.abc import Iterator

from normgeo.normalizers.shared_statistics import SHARINGS
from normgeo.pictures.batch.axes import FLAT_MARK, MAP_MARK, NEURONS, Axes, Shared
from normgeo.pictures.in_numpy.script import imports, number_of
from normgeo.settings import Settings

START = """\
data = DATASETS["{dataset}"].load(standardize={standardize})
rng = np.random.default_rng({seed})
W = rng.standard_normal(({neurons}, data.D)) / np.sqrt(data.D)
batch = rng.permutation(data.N)[:{m}]
A = data.X[batch] @ W.T  # cases × neurons
"""

MAPS = """\
images = data.raw[batch].reshape(-1, *data.image_shape)
maps = feature_maps(images)  # cases × channels × height × width
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
    """Return a script that prints z of the marked entries; "" where no σ is above 0."""
    prints = "\n".join(_prints(settings, result))
    if not prints:
        return ""
    maps = result.maps is not None
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
                *((shared,) if maps else ()),
                settings=False,
            ),
            start + (MAPS if maps else ""),
            "",
            number_of(3),
            AVERAGE + prints,
            "",
        )
    )


def _prints(settings: Settings, result: Axes) -> Iterator[str]:
    """A line for each method and array that have a z."""
    channels = 0 if result.maps is None else result.maps.shape[1]
    for key, panel in result.panels[result.opens_at].items():
        for name, count, place, found in (
            ("A", NEURONS, FLAT_MARK, panel.flat),
            ("maps", channels, MAP_MARK, panel.maps),
        ):
            if isinstance(found, Shared) and found.entry.z is not None:
                sharing = SHARINGS[key]
                over = (2, 3) if sharing.within_case else (0, 2, 3)
                groups = settings.groups if sharing.takes_groups else 1
                groups = count if sharing.channels_apart else groups
                title = json.dumps(f"{sharing.title}: z =", ensure_ascii=False)
                yield f"print({title}, number(z({name}, {place}, {over}, {groups})))"
