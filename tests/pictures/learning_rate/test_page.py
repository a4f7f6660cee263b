"""What all pictures of the Learning rate page share."""

import re
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from normgeo import NORMALIZERS
from normgeo.base.progress import Stop
from normgeo.datasets.datasets import DATASETS
from normgeo.dynamics.optimizers import OPTIMIZERS
from normgeo.models.families import FAMILIES
from normgeo.pictures import PICTURES
from normgeo.settings import Settings
from tests.pairwise import loops, some

RUNS = ("descent", "equilibrium", "twin", "spiral")
NAMES = ("turn", "descent", "doubling", "ellipse")
LAWFUL = [key for key, method in NORMALIZERS.items() if method.homogeneous_blocks(4)]
QUICK = Settings(dataset="wine", neurons=6, steps=20)
ENCODED = r'base64,[^"]*|"bdata":"[^"]*'  # images and arrays, whose letters may be any

# States whose loss is flat: four neurons share one target, and the squares of z are all it sees.
FLAT = {("diabetes", "layer", 0), ("plane", "centered_weight", 0)}


def refused(name: str, dataset: str, method: str, neurons: int) -> bool:
    """Whether there is no block, no z, z = ±1, no gradient, or no two directions across."""
    data, normalizer = DATASETS[dataset].load(), Settings(method=method).normalizer
    H = neurons or max(data.H, 4)
    if FAMILIES[data.family].coupled and data.H > H:
        return True
    if (dataset, method, neurons) in FLAT:
        return True
    if normalizer.scale == "none":
        return name != "turn"  # which shows contours where there is no law
    K, centered = 1, 0
    if "layer" in normalizer.words:
        K, rest = divmod(H, normalizer.groups)
        centered = int(normalizer.center == "layer")
        if rest or K - centered < 2:
            return True
    dimensions = (K - centered) * (data.D - (normalizer.center == "weight"))
    return name == "ellipse" and dimensions < 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows", loops(NAMES, [0, 1, 2], NORMALIZERS, DATASETS, of=1))
def test_every_state_has_a_figure_but_for_those_with_a_sentence(
    sentence_of, rows: list[Any], subtests: pytest.Subtests
) -> None:
    for name, neurons, method, dataset in rows:
        with subtests.test(name=name, neurons=neurons, method=method, dataset=dataset):
            settings = Settings(dataset=dataset, method=method, neurons=neurons, steps=3)
            if refused(name, dataset, method, neurons):
                words = sentence_of(name, settings)
                assert words[0].isupper() or words[0] in "`σ"
                assert words.endswith(".")
                assert len(words.split()) > 8
                continue
            result = PICTURES[name].compute(settings)
            assert PICTURES[name].table(result).rows
            if ([*NORMALIZERS].index(method) + [*DATASETS].index(dataset) + neurons) % 3:
                continue  # any two of the three are drawn together with some third
            spec = PICTURES[name].figure(result, "dark").to_json()
            assert len(spec) < 300_000
            assert "nan" not in re.sub(f"finance|nano|{ENCODED}", "", spec).lower()


@pytest.mark.parametrize("rows", some([*product(NAMES, LAWFUL)], len(LAWFUL) + 1))
def test_payload_stays_small_with_eps(rows: list[tuple[str, str]]) -> None:
    for name, method in rows:
        settings = replace(QUICK, method=method, eps=1.0, growth=0.125)
        figure = PICTURES[name].figure(PICTURES[name].compute(settings), "light")
        assert len(figure.to_json()) < 300_000


def test_only_the_settings_in_uses_matter(subtests: pytest.Subtests) -> None:
    for name in NAMES:
        with subtests.test(name=name):
            other = Settings(
                delta=-2,
                cell="batch.case_rescaling",
                rows="grid",
                theme="dark",
                tab="own",
                center="none",
                scale="none",
                index=3,
            )
            settings = replace(other, dataset="wine", neurons=6, steps=20)
            assert PICTURES[name].table(PICTURES[name].compute(settings)) == PICTURES[name].table(
                PICTURES[name].compute(QUICK)
            )


def test_recipe_gives_the_same_picture(subtests: pytest.Subtests) -> None:
    for name in sorted({*NAMES, *RUNS}):
        with subtests.test(name=name):
            settings = replace(QUICK, method="layer", growth=4, rate=0.5, seed=3)
            settings = replace(settings, decay=0.01, mini_batch=50)
            recipe = PICTURES[name].recipe(settings)
            again = Settings.from_recipe(recipe["settings"])
            assert PICTURES[name].table(PICTURES[name].compute(again)) == PICTURES[name].table(
                PICTURES[name].compute(settings)
            )


def test_no_decay_has_a_sentence(sentence_of, subtests: pytest.Subtests) -> None:
    for name in ["equilibrium", "twin"]:
        with subtests.test(name=name):
            assert sentence_of(name, replace(QUICK, decay=0)) == (
                "Without weight decay nothing stops the growth of the norm, so there is no balance "
                "to show. Choose a weight decay λ above 0, or leave the field empty."
            )


def test_decay_that_turns_the_weights_round_has_a_sentence(
    sentence_of, subtests: pytest.Subtests
) -> None:
    for name in ["equilibrium", "twin"]:
        with subtests.test(name=name):
            assert sentence_of(name, replace(QUICK, decay=4, rate=0.5)) == (
                "A step of decay multiplies the weights by 1 − ηλ, which must be above 0 to keep "
                "their direction; got η = 0.5 and λ = 4, so ηλ = 2. Choose a smaller λ, or "
                "leave the field empty."
            )


def test_mini_batch_of_more_cases_than_there_are_has_a_sentence(
    sentence_of, subtests: pytest.Subtests
) -> None:
    for name in RUNS:
        with subtests.test(name=name):
            assert sentence_of(name, replace(QUICK, mini_batch=1000)) == (
                "A mini-batch has at most the 178 cases of the data, not 1000. Choose a "
                "smaller one, or 0 for all cases."
            )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "rows", loops(RUNS, [0.0, 1e6], OPTIMIZERS, [None, 0.5], ["linnerud_reversed", "plane"])
)
def test_wild_runs_are_drawn_or_explained(
    sentence_of, rows: list[Any], subtests: pytest.Subtests
) -> None:
    for name, rate, optimizer, decay, dataset in rows:
        with subtests.test(name=name, rate=rate, optimizer=optimizer, decay=decay, dataset=dataset):
            settings = Settings(
                dataset=dataset, rate=rate, optimizer=optimizer, decay=decay, steps=10
            )
            counts = dataset == "linnerud_reversed"  # which overflow in the first step
            if rate and decay and name in ("equilibrium", "twin"):
                assert "which must be above 0 to keep their direction" in sentence_of(
                    name, settings
                )
            elif rate and counts and name == "equilibrium":
                assert "and the runs have 0. Take more steps" in sentence_of(name, settings)
            elif rate and counts and name == "spiral":
                assert sentence_of(name, settings).startswith("The first step cannot be taken: ")
            else:
                result = PICTURES[name].compute(settings)
                spec = PICTURES[name].figure(result, "dark").to_plotly_json()
                assert "nan" not in str(spec["layout"]).lower()
                assert PICTURES[name].table(result).rows


def test_stopped_runs_keep_what_they_have(subtests: pytest.Subtests) -> None:
    for name in RUNS:
        with subtests.test(name=name):

            def stop(done: int, steps: int) -> None:
                if done >= 15:
                    raise Stop

            result = PICTURES[name].compute(QUICK, stop)
            assert PICTURES[name].figure(result, "light").data
            assert PICTURES[name].table(result).rows


def test_progress_ends_where_it_is_done(subtests: pytest.Subtests) -> None:
    for name in RUNS:
        with subtests.test(name=name):
            told: list[tuple[int, int]] = []
            PICTURES[name].compute(QUICK, lambda *progress, told=told: told.append(progress))
            assert told[-1][0] == told[-1][1]
            assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.exhaustive
def test_legend_stays_between_the_words_when_the_window_is_higher(
    subtests: pytest.Subtests,
) -> None:
    """A share of the height, far above the panels, would move it into the words."""
    for name in sorted({*NAMES, *RUNS}):
        with subtests.test(name=name):
            legend = PICTURES[name].figure(PICTURES[name].compute(QUICK), "light").layout.legend
            assert legend.yref == "container" or (legend.y or 1.01) <= 1.01


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name", ["spiral", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in RUNS[:3])]
)
def test_long_runs_stay_small(name: str) -> None:
    settings = Settings(dataset="plane", steps=2000, decay=0.01, mini_batch=50, rate=0.05, seed=2)
    result = PICTURES[name].compute(settings)
    assert len(PICTURES[name].figure(result, "light").to_json()) < 300_000
