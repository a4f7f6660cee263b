"""Measure the accuracy of the small network of the page Batch, by batch size.

    python -m tools.batch_accuracy

It writes normgeo/pictures/batch/accuracy.json, in a few minutes. Run it again when the network, its
training or the data change; a test compares some of the runs with the file.
"""

import json
from pathlib import Path
from typing import Any

from tqdm import tqdm

from normgeo.datasets.datasets import DATASETS
from normgeo.datasets.hold_out import hold_out
from normgeo.pictures.batch.accuracy import (
    FILE,
    METHODS,
    RATE,
    RATE_AT,
    SEEDS,
    WIDTHS,
    count_right,
    has_classes,
    sizes_of,
)
from normgeo.settings import Settings

HOME = Path(__file__).parents[1] / "normgeo" / "pictures" / "batch"


def measured(key: str) -> dict[str, Any]:
    """Return the batch sizes and, for each method and size, the correct answers by seed."""
    data = DATASETS[key].load()
    sizes = sizes_of(data)
    return {
        "tested": len(hold_out(data).y_test),
        "sizes": sizes,
        "right": {
            method: [
                [count_right(key, method, m, seed) for seed in range(SEEDS)]
                for m in tqdm(sizes, desc=f"{key}, {method}")
            ]
            for method in METHODS
        },
    }


def main() -> None:
    keys = [key for key, source in DATASETS.items() if has_classes(source.load())]
    settings = {
        "epochs": Settings.epochs,
        "rate": RATE,
        "rate_at": RATE_AT,
        "optimizer": "momentum",
        "widths": WIDTHS,
        "seeds": SEEDS,
    }
    text = json.dumps({"settings": settings, "data": {key: measured(key) for key in keys}})
    # One line for each data set and method.
    for word in ('"data"', '"batch"', '"layer"', *(f'"{key}"' for key in keys)):
        text = text.replace(word, f"\n{word}")
    (HOME / FILE).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
