"""The seconds that pictures say they take, against what they take, at the speed of this machine."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.timing import Row
from normgeo import NORMALIZERS, NormalizedGLM
from normgeo.datasets.datasets import DATASETS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

TITLE = "What pictures say they take"
WIDE: dict[str, Any] = {"dataset": "plane", "neurons": 256, "method": "rms"}
HARD: dict[str, dict[str, Any]] = {
    "effect": {"neurons": 256, "cell": "group.case_rescaling", "groups": 16, "eps": 0.1},
    "descent": {**WIDE, "steps": 250},
    "equilibrium": {**WIDE, "steps": 80},
    "twin": {**WIDE, "steps": 150},
    "spiral": {**WIDE, "steps": 300},
    "doubling": {"neurons": 48, "method": "layer"},
    "ellipse": {"neurons": 16, "family": "categorical"},
    "turn": {"neurons": 24, "method": "layer"},
    "training": {"epochs": 1, "batch_size": 16},
    "depth": {"method": "layer", "depth": 24, "neurons": 128},
    "placements": {"method": "layer", "depth": 8, "epochs": 1, "neurons": 64},
    "attention": {"method": "batch"},
    "images": {"epochs": 1},
    "recurrence": {"neurons": 16, "length": 32},
    "radii": {"neurons": 16, "length": 32},
    "cells": {"neurons": 48, "length": 64},
    "learning": {"task": "rows", "sequences": 16, "neurons": 48},
    "longer": {"task": "rows", "rnn": "tanh", "sequences": 8},
    "symmetry": {"dataset": "plane", "neurons": 64, "method": "layer", "family": "categorical"},
    "walk": {"dataset": "wine", "neurons": 32, "method": "layer"},
    "coupling": {"dataset": "wine", "neurons": 16, "method": "layer"},
    "fisher": {"dataset": "plane", "neurons": 64, "method": "layer", "family": "categorical"},
    "magnitude": {"neurons": 96, "family": "categorical"},
    "eq13": {"dataset": "wine", "neurons": 32, "method": "layer"},
    "spectra": {"dataset": "wine", "neurons": 32, "method": "layer"},
    "labels": {"neurons": 10, "method": "layer"},
    "channels": {},
}
CALIBRATED = 0.0104
"""Seconds of `reference` on the machine that the estimates are of."""


def rows() -> Iterator[Row]:
    with threadpool_limits(1):  # as in the workers of a server
        for name, picture in PICTURES.items():
            settings = settings_of(name)
            DATASETS[settings.dataset].load(), DATASETS[settings.dataset].load(standardize=True)
            times, machine = list[float](), [reference()]
            for seed in (1, 2, 3):  # another each time, of which nothing is kept
                started = process_time()
                picture.compute(replace(settings, seed=seed))
                times.append(process_time() - started)
                machine.append(reference())  # its speed is not the same from one second to the next
            said = picture.cost(settings).seconds * median(machine) / CALIBRATED
            took = median(times)
            yield Row(picture.title, took, "said", said, f"{took / said:.2f} ×", "≤ 2 ×")


def settings_of(name: str) -> Settings:
    """Return settings at which a picture takes long, or usual ones."""
    return Settings(**HARD.get(name, {"dataset": "wine", "neurons": 12}))


def reference() -> float:
    """Time ten gradients of layer norm: the median of five tries."""
    model = NormalizedGLM.random(NORMALIZERS["layer"], "gaussian", 16, 64, np.random.default_rng(0))
    X = np.random.default_rng(1).standard_normal((1000, 64))

    def once() -> float:
        started = process_time()
        for _ in range(10):
            model.gradient(X, np.zeros((1000, 16)))
        return process_time() - started

    return median(once() for _ in range(5))
