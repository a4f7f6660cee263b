"""What a picture says it takes, against what it takes; and what pages refuse before it starts."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from time import process_time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from normgeo import NORMALIZERS, NormalizedGLM
from normgeo.base.budget import PAGES, Cost
from normgeo.base.cache import size_of
from normgeo.base.refusal import Refusal
from normgeo.datasets.datasets import DATASETS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

WIDE = {"dataset": "plane", "neurons": 256, "method": "rms"}
HARD = {
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
}
LONG = {
    *("learning", "longer", "images", "magnitude", "depth", "attention", "cells"),
    *("descent", "twin", "recurrence", "spectra", "noise", "placements"),
}
"""Pictures whose states above take longer than others."""
EVERY = 10_000  # steps, the most there are
CALIBRATED = 0.0104  # seconds of `reference` where estimates were compared with what they are of


def settings_of(name: str) -> Settings:
    return Settings(**HARD.get(name, {"dataset": "wine", "neurons": 12}))


def faster() -> float:
    """How much faster this machine is than that one now, at least 1: estimates know no machine."""
    model = NormalizedGLM.random(NORMALIZERS["layer"], "gaussian", 16, 64, np.random.default_rng(0))
    X = np.random.default_rng(1).standard_normal((1000, 64))

    def reference() -> float:
        started = process_time()
        for _ in range(10):
            model.gradient(X, np.zeros((1000, 16)))
        return process_time() - started

    times = [reference() for _ in range(5)]
    return max(1.0, CALIBRATED / min(filter(None, times), default=CALIBRATED))  # 0: no clock tick


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] * bool(place % 3 or name in LONG))
        for place, name in enumerate(PICTURES)
    ],
)
def test_a_picture_takes_about_what_it_says(name: str) -> None:
    """No more memory and no more than twice the time, nor a tenth of the memory that it says.

    It says three times too much time at most, at one thread, as in the server: a bar stands there
    for a reason.
    """
    picture, settings = PICTURES[name], settings_of(name)
    DATASETS[settings.dataset].load(), DATASETS[settings.dataset].load(standardize=True)
    said = picture.cost(settings)
    assert PAGES.allows(said)
    tracemalloc.start()
    picture.compute(settings)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < said.bytes < 10 * peak + 40e6
    with threadpool_limits(1):
        took, most = float("inf"), faster()
        for seed in (1, 2):  # another each time, of which nothing is kept
            if took < 2 * said.seconds:
                break  # a second run is for the first that other work has held up
            started = process_time()
            result = picture.compute(replace(settings, seed=seed))
            took = min(took, process_time() - started)
        most = max(most, faster())  # its speed is not the same from one second to the next
    assert took < 2 * said.seconds + 0.1
    assert said.seconds < 3 * took * most + 0.3
    assert size_of(result) < 20e6


def test_what_is_beyond_the_budget_of_pages_is_refused_with_both_figures(
    subtests: pytest.Subtests,
) -> None:
    for name, settings in [
        ("descent", {"neurons": 256, "steps": EVERY}),
        ("equilibrium", {"neurons": 256, "steps": EVERY, "mini_batch": 0}),
        ("twin", {"neurons": 256, "steps": EVERY}),
    ]:
        with subtests.test(name=name, settings=settings):
            picture = PICTURES[name]
            cost = picture.cost(Settings(**settings))
            with pytest.raises(Refusal) as refused:
                PAGES.require(cost, picture.title)
            words = str(refused.value)
            for part in (
                str(cost),
                str(Cost(PAGES.bytes, PAGES.seconds).seconds)[:3],
                "400 MB",
                "command",
            ):
                assert part in words


def test_what_people_may_want_of_a_page_is_within_its_budget(subtests: pytest.Subtests) -> None:
    for name, settings in [
        ("descent", {"steps": EVERY}),
        ("descent", {"dataset": "plane", "neurons": 256, "family": "bernoulli", "steps": EVERY}),
        ("equilibrium", {"steps": EVERY, "method": "layer"}),
        ("twin", {"dataset": "plane", "neurons": 256, "steps": EVERY}),
        ("spiral", {"neurons": 256, "steps": EVERY}),
        ("magnitude", {"dataset": "plane", "neurons": 256, "family": "categorical"}),
        ("magnitude", {"neurons": 256, "family": "categorical", "method": "rms"}),
        ("doubling", {"neurons": 256, "family": "categorical", "method": "layer"}),
        ("ellipse", {"neurons": 256, "family": "categorical", "method": "layer"}),
        ("turn", {"neurons": 256, "eps": 0.1, "method": "layer"}),
        ("effect", {"neurons": 256, "cell": "group.case_rescaling", "groups": 128}),
        ("fisher", {"dataset": "plane", "neurons": 256, "family": "categorical"}),
        ("recurrence", {"neurons": 64, "length": 256}),
        ("symmetry", {"neurons": 16, "method": "group", "groups": 8}),
        ("walk", {"neurons": 16, "method": "group", "groups": 8}),
        ("training", {"epochs": 20, "batch_size": 1}),
        ("learning", {"task": "pixels", "sequences": 128}),
        ("longer", {"task": "pixels", "sequences": 128}),
        ("cells", {"neurons": 64, "length": 256}),
    ]:
        with subtests.test(name=name, settings=settings):
            assert PAGES.allows(PICTURES[name].cost(Settings(**settings)))
