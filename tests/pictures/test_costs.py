"""What a picture says it takes, against what it takes; and what pages refuse before it starts."""

from __future__ import annotations

import tracemalloc

import pytest

from benchmarks.costs import settings_of
from normgeo.base.budget import PAGES, Cost
from normgeo.base.cache import size_of
from normgeo.base.refusal import Refusal
from normgeo.datasets.datasets import DATASETS
from normgeo.pictures import PICTURES
from normgeo.settings import Settings

LONG = {
    *("learning", "longer", "images", "magnitude", "depth", "attention", "cells"),
    *("descent", "twin", "recurrence", "spectra", "noise", "placements"),
}
"""Pictures whose states above take longer than others."""
EVERY = 10_000  # steps, the most there are


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.exhaustive] * bool(place % 3 or name in LONG))
        for place, name in enumerate(PICTURES)
    ],
)
def test_a_picture_takes_about_the_memory_that_it_says(name: str) -> None:
    """No more than it says, nor a tenth of it; the benchmark of costs compares seconds."""
    picture, settings = PICTURES[name], settings_of(name)
    DATASETS[settings.dataset].load(), DATASETS[settings.dataset].load(standardize=True)
    said = picture.cost(settings)
    assert PAGES.allows(said)
    tracemalloc.start()
    result = picture.compute(settings)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < said.bytes < 10 * peak + 40e6
    assert size_of(result) < 20e6


def test_harder_settings_take_more_seconds(subtests: pytest.Subtests) -> None:
    for name, picture in PICTURES.items():
        easy = Settings(dataset="plane", neurons=3, depth=1, length=8, epochs=1, steps=10)
        with subtests.test(name=name):
            assert 0 <= picture.cost(easy).seconds <= picture.cost(settings_of(name)).seconds


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
