"""Named normalizers, and all pairs of a center and a scale.

Weight norm and mean-only batch norm are those of Salimans and Kingma 2016; RMS norm is that of
Zhang and Sennrich 2019, group norm of Wu and He 2018, centered weight norm of Huang et al. 2017
(weight standardization up to a constant).
"""

from __future__ import annotations

from normgeo.base.arguments import entry_of
from normgeo.base.text import text
from normgeo.normalizers.centers import CENTERS
from normgeo.normalizers.normalizer import Normalizer
from normgeo.normalizers.scales import SCALES

NORMALIZERS: dict[str, Normalizer] = {
    "standard": Normalizer("none", "none", name=text("standard")),
    "batch": Normalizer("batch", "batch", name=text("batch norm")),
    "weight": Normalizer("none", "weight", name=text("weight norm")),
    "layer": Normalizer("layer", "layer", name=text("layer norm")),
    "rms": Normalizer("none", "layer", name=text("RMS norm")),
    "group": Normalizer("layer", "layer", groups=2, name=text("group norm")),
    "mean_only_batch_weight": Normalizer(
        "batch", "weight", name=text("mean-only batch + weight norm")
    ),
    "centered_weight": Normalizer("weight", "weight", name=text("centered weight norm")),
}

_NAMED = {normalizer: normalizer for normalizer in reversed(NORMALIZERS.values())}

GRID: dict[tuple[str, str], Normalizer] = {
    (center, scale): _NAMED.get(Normalizer(center, scale), Normalizer(center, scale))
    for center in CENTERS
    for scale in SCALES
}


def normalizer_of(value: object) -> Normalizer:
    """Return a normalizer, given as an object or by name; refuse anything else.

    >>> normalizer_of("layer").words
    ('layer', 'layer')

    """
    return entry_of("normalizer", value, NORMALIZERS, Normalizer)
