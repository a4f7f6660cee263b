"""Measure the accuracy of the residual network of the page Depth, by place of the norm and depth.

    python -m tools.depth_accuracy

It writes normgeo/pictures/depth/accuracy.json, in some twelve minutes. Run it again when the
network, its training or the data change; a test compares some of the runs with the file.
"""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from normgeo import __version__
from normgeo.base.arrays import Array
from normgeo.pictures.depth.accuracy import (
    BATCH,
    DEPTHS,
    EPOCHS,
    FILE,
    KINDS,
    METHOD,
    RATES,
    SEEDS,
    WARM,
    WARMING,
    WIDTH,
    cases_of,
    trained,
)

HOME = Path(__file__).parents[1] / "normgeo" / "pictures" / "depth"


def main() -> None:
    nothing = [float("nan")] * 3
    runs = np.full((len(KINDS), len(WARMING), len(DEPTHS), len(RATES), SEEDS, 3), np.nan)
    every = list(product(KINDS, WARMING, DEPTHS, RATES, range(SEEDS)))
    bar = tqdm(total=sum(depth for _, _, depth, *_ in every), unit="block")
    with threadpool_limits(1):
        for place, (kind, warming, depth, rate, seed) in zip(
            np.ndindex(runs.shape[:-1]), every, strict=True
        ):
            _, run = trained(kind, warming, depth=depth, rate=rate, seed=seed)
            runs[place] = run or nothing
            bar.update(depth)
    cases = cases_of(0)
    settings = {
        "command": "python -m tools.depth_accuracy",
        "versions": {"normgeo": __version__, "numpy": np.__version__, "scipy": scipy.__version__},
        "data": "digits",
        "cases": [len(cases.y), len(cases.y_validation), len(cases.y_test)],
        "tested": len(cases.y_test),
        "method": METHOD,
        "optimizer": "adam",
        "width": WIDTH,
        "epochs": EPOCHS,
        "batch_size": BATCH,
        "warm_up": WARM,
        "depths": DEPTHS,
        "rates": RATES,
        "seeds": SEEDS,
        "of_a_run": ["validation cases right", "test cases right", "training loss"],
    }
    lines = [
        f'"{kind}": {{'
        + ",\n".join(
            f'"{warming}": {json.dumps(_plain(runs[k, w]))}' for w, warming in enumerate(WARMING)
        )
        + "}"
        for k, kind in enumerate(KINDS)
    ]
    text = f'{{"settings": {json.dumps(settings)},\n"runs": {{' + ",\n".join(lines) + "}}\n"
    (HOME / FILE).write_text(text, "utf-8")


def _plain(values: Array) -> list[Any]:
    """Return nested lists, with whole numbers as such and null for what is missing."""
    if values.ndim > 1:
        return [_plain(one) for one in values]
    if np.isnan(values).any():
        return [None] * len(values)
    return [int(values[0]), int(values[1]), float(values[2])]


if __name__ == "__main__":
    main()
