"""The results that ship are whole, and the verdict on the paper's sentence follows its rule."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import normgeo.experiments
from normgeo.base.refusal import Refusal
from normgeo.experiments.results import (
    FASTER,
    METHODS,
    RULE,
    STATEMENTS,
    Learned,
    load,
    result_of,
    shares,
    verdict,
)

BOTH = ("none", "layer")
FOLDER = Path(normgeo.experiments.__file__).parent / "results"


@pytest.mark.parametrize("name", STATEMENTS)
def test_shipped_result_is_whole_and_fair(name):
    result = load(name)
    assert result.name == name
    assert result.command.startswith(f"python -m normgeo experiment {name} ")
    assert {"normgeo", "jax", "optax", "python"} <= set(result.versions)
    assert len(result.seeds) >= 3
    assert [*result.steps] == sorted({*result.steps})
    assert [*result.methods] == [method for method in METHODS if method in result.methods]
    assert {result.statement.slow, result.statement.fast} <= {*result.methods}
    for learned in result.methods.values():
        assert len(learned.rates) >= 4
        assert learned.rates[learned.rate] == min(learned.rates.values())
        best = [min(curve) for curve in learned.validation]
        assert np.mean(best) == pytest.approx(learned.rates[learned.rate], rel=1e-4)
        assert np.isfinite(best).all()
        assert np.isfinite(learned.test).all()
    assert (FOLDER / f"{name}.json").stat().st_size <= 60_000


def test_every_file_that_ships_has_a_statement():
    assert {file.stem for file in FOLDER.glob("*.json")} == {*STATEMENTS}


def test_canvases_and_windows_are_of_the_same_steps():
    pictures = load("draw").moving["pictures"]
    assert {each["method"] for each in pictures} == {*BOTH}
    for each in pictures:
        canvases, windows = np.array(each["canvases"]), np.array(each["windows"])
        assert canvases.shape == (len(windows), 8, 8)
        assert canvases.dtype.kind == "i"
        assert 0 <= canvases.min() <= canvases.max() <= 255
        assert {*np.ravel(each["target"])} == {0, 1}


def test_attention_is_on_words_and_chances_are_of_names_after_each_word_of_the_query():
    (one,) = load("reader").moving["questions"]
    assert one["query"].count("@placeholder") >= 1
    assert one["answer"] in one["document"]
    assert [*one["methods"]] == [*load("reader").methods]
    for found in one["methods"].values():
        attention, chance = np.array(found["attention"]), np.array(found["chance"])
        assert attention.shape == (len(one["query"]), len(one["document"]))
        np.testing.assert_allclose(attention.sum(axis=1), 1, atol=0.02)
        for at in range(len(one["names"])):
            there = [word == f"@entity{at}" for word in one["document"]]
            np.testing.assert_allclose(attention[:, there].sum(axis=1), chance[:, at], atol=0.02)


def test_sentences_are_written_at_every_evaluation_and_what_is_near_is_named():
    result = load("skip_thoughts")
    moving = result.moving
    (one,) = moving["sentences"]
    assert {*one["methods"]} == {*BOTH}
    assert one["topic"] in moving["topics"]
    assert {near["topic"] for near in moving["near"]} <= {*moving["topics"]}
    nearest = [at for found in one["methods"].values() for at in found["nearest"]]
    assert {*nearest} == {*range(len(moving["near"]))}
    for found in one["methods"].values():
        assert len(found["written"]) == len(found["nearest"]) == len(result.steps)
    for learned in result.methods.values():
        wrong, ranks = learned.others.values()
        assert np.shape(wrong.validation) == np.shape(ranks.validation)
        assert 0 <= np.min(wrong.validation) <= np.max(wrong.validation) <= 100
        assert 1 <= np.min(ranks.validation) <= np.max(ranks.validation) <= 100


def test_lines_have_a_place_in_the_text_at_each_point():
    lines = load("handwriting").moving["lines"]
    assert {each["method"] for each in lines} == {*BOTH, "data"}
    for each in lines:
        points = np.array(each["points"])
        assert points.shape == (len(each["window"]), 3)
        assert {*points[:, 2]} <= {0, 1}


def test_captions_are_read_word_by_word_among_pictures_of_sixteen_levels():
    moving = load("order").moving
    assert {each["method"] for each in moving["captions"]} == {*BOTH}
    assert {len(picture) for picture in moving["pictures"]} == {16 * 16}
    assert {*"".join(moving["pictures"])} <= {*"0123456789abcdef"}
    for each in moving["captions"]:
        assert np.shape(each["best"]) == (len(each["words"]), 5)
        assert len(each["ranks"]) == len(each["words"])
        assert all(1 <= rank <= len(moving["pictures"]) for rank in each["ranks"])


def test_digits_are_watched_at_every_evaluation_of_every_way_to_learn():
    result = load("mnist")
    ways, shown = result.moving["ways"], len(result.moving["digits"])
    assert [(one["method"], one["batch"]) for one in ways] == [
        (method, batch) for batch in (4, 128) for method in ("batch", "layer")
    ]
    for one in ways:
        assert np.shape(one["watched"]) == (len(result.steps), shown)
        assert np.shape(one["validation"]) == (len(result.seeds), len(result.steps))
        assert one["rates"][str(one["rate"])] == min(one["rates"].values())


def test_answers_are_chances_at_every_contrast():
    result = load("convolution")
    moving = result.moving
    assert [one["method"] for one in moving["answers"]] == [*result.methods]
    for one in moving["answers"]:
        chances = np.array(one["chances"])
        assert chances.shape == (len(moving["contrasts"]), len(moving["digits"]), 10)
        assert np.abs(chances.sum(axis=-1) - 100).max() <= 5
        assert len(one["errors"]) == len(moving["contrasts"])


def learned(*curves):
    return Learned({0.01: 1.0}, 0.01, curves, (1.0,) * len(curves))


def of(none, layer):
    """A result of curves at 0, 10, 20, 30 steps, one a seed."""
    return replace(
        load("draw"),
        seeds=tuple(range(len(none))),
        steps=(0, 10, 20, 30),
        methods=dict(zip(BOTH, (learned(*none), learned(*layer)), strict=True)),
    )


SLOW, FAST, LATE, NEVER = (9, 8, 7, 6), (9, 6, 5, 5), (9, 8, 6.5, 6), (9, 8, 7, 6.1)


@pytest.mark.parametrize(
    ("none", "layer", "found", "word"),
    [
        ([SLOW, SLOW], [FAST, FAST], (1 / 3, 1 / 3), "holds"),
        ([SLOW, SLOW], [LATE, NEVER], (1, math.inf), "fails"),
        ([SLOW, SLOW], [FAST, NEVER], (1 / 3, math.inf), "not at this size"),
        ([(9, 7, 7, 6.4)], [(9, 9, 6.4, 6)], (2 / 3,), "not at this size"),
        ([(9, 7, math.nan, 6.4)], [(9, math.nan, 8, 7)], (math.inf,), "fails"),
    ],
)
def test_verdict_follows_the_rule(none, layer, found, word):
    result = of(none, layer)
    assert shares(result) == pytest.approx(found)
    assert verdict(result) == word


def test_rule_says_the_share_it_uses():
    assert f"{FASTER:.0%}" in RULE


def test_one_method_alone_has_no_verdict():
    result = of([SLOW], [FAST])
    with pytest.raises(Refusal, match="two methods"):
        verdict(replace(result, methods={BOTH[1]: result.methods[BOTH[1]]}))


def test_what_does_not_fit_is_refused():
    with pytest.raises(Refusal, match=rf"{', '.join(STATEMENTS)}; got 'drawn'"):
        load("drawn")
    data = json.loads((FOLDER / "draw.json").read_bytes())
    short = json.loads(json.dumps(data))
    short["methods"]["layer"]["validation"][0].pop()
    for broken in (short, {**data, "seeds": [0]}, {**data, "steps": []}):
        with pytest.raises(Refusal, match="do not fit"):
            result_of(broken)
