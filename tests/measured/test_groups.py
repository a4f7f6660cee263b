"""Groups for weight decay, blocks and learning rates follow from the verdicts."""

import csv
import io
import json

import numpy as np
import pytest

import normgeo
from normgeo.measured.groups import SENTENCES
from normgeo.measured.judging import WORDS
from tests.measured.networks import NETWORKS
from tests.measured.test_verdicts import SEED
from tests.refused import says

GROUPS = {
    "layer_norm_after": {
        "invariant": ["W"],
        "matrices": ["V"],
        "gains": ["g"],
        "vectors": ["b", "s", "v"],
    },
    "batch_norm": {
        "invariant": ["W"],
        "matrices": ["V"],
        "gains": ["g"],
        "vectors": ["s", "v"],
        "unused": ["b"],
    },
    "pre_norm": {
        "joint": ["E", "V", "U"],
        "matrices": ["W", "G", "H"],
        "gains": ["g", "gf"],
        "vectors": ["b", "c"],
    },
    "gemma": {"invariant": ["W"], "matrices": ["V"], "gains": ["g"]},
    "relu_pairs": {"matrices": ["W", "V", "U"], "vectors": ["b", "c", "u"]},
}


def measured(name):
    known = NETWORKS[name]
    parameters = known.draw(np.random.default_rng(SEED))
    return normgeo.measure(known.f, parameters), parameters


@pytest.mark.parametrize("name", GROUPS)
def test_groups_are_those_derived_by_hand(name):
    table, parameters = measured(name)
    groups = table.groups()
    assert {group.key: sorted(group.names) for group in groups.groups} == {
        key: sorted(names) for key, names in GROUPS[name].items()
    }
    for group in groups.groups:
        assert group.parameters == sum(parameters[one].size for one in group.names)
        assert group.sentence == SENTENCES[group.key]
        assert all(groups.of(one) is group for one in group.names)


def test_groups_are_plain_dictionaries_for_torch():
    table, parameters = measured("layer_norm_after")
    found = table.groups().for_torch(parameters, 0.1)
    assert {one["name"]: one["weight_decay"] for one in found} == {
        "invariant": 0.1,
        "matrices": 0.1,
        "gains": 0.0,
        "vectors": 0.0,
    }
    given = [array for one in found for array in one["params"]]
    assert {id(array) for array in given} == {id(array) for array in parameters.values()}


def test_groups_are_a_mask_for_optax():
    known = NETWORKS["layer_norm_after"]
    flat = known.draw(np.random.default_rng(SEED))
    tree = {"first": {n: flat[n] for n in "Wb"}, "rest": [flat[n] for n in "gsVv"], "steps": 3}

    def f(tree):
        names = dict(zip("gsVv", tree["rest"], strict=True))
        return known.f(tree["first"] | names)

    mask = normgeo.measure(f, tree).groups().for_optax(tree)
    assert mask == {
        "first": {"W": True, "b": False},
        "rest": [False, False, True, False],
        "steps": False,
    }


def test_changes_against_own_groups_are_told():
    table, _ = measured("layer_norm_after")
    changes = table.groups().changes(["W", "b", "g"])
    assert [row[:3] for row in changes.rows] == [
        ("V", "no", "yes"),
        ("g", "yes", "no"),
        ("b", "yes", "no"),
    ]
    with says(
        "`decayed` must name measured tensors, of ['V', 'W', 'b', 'g', 's', 'v']; got ['w']."
    ):
        table.groups().changes(["w"])


def test_recorder_takes_what_the_table_says(tmp_path):
    table, parameters = measured("layer_norm_after")
    told = table.recorder()
    assert told == {"blocks": {"W": "layer", "V": "standard"}, "biases": {"W": "b"}, "neurons": 0}
    with normgeo.Recorder(tmp_path / "run", **told) as recorder:
        recorder.step(parameters, 0.1)
    found = normgeo.findings(normgeo.read_recording(tmp_path / "run"))
    assert [one.weights for one in found] == [6 * (5 + 1), 6, 6, 6]  # W and b, rows of V
    assert measured("rms_norm_after")[0].recorder()["blocks"]["W"] == "rms"
    assert measured("batch_norm")[0].recorder()["blocks"]["W"] == "batch"


def test_learning_rates_are_told_by_what_is_one_block():
    rates = {name: measured(name)[0] for name in ("batch_norm", "group_norm", "pre_norm")}
    assert str(rates["batch_norm"].learning_rate("W")) == "η/‖w‖², of each row by itself"
    assert str(rates["group_norm"].learning_rate("W")) == "η/‖w‖², of each of 2 blocks of rows"
    assert "all of E, all of V, all of U × δ" in rates["pre_norm"].learning_rate("V")
    assert str(rates["pre_norm"].learning_rate("W")) == "η: no norm takes its length off"
    table = measured("layer_norm_after")[0]
    assert str(table.learning_rate("W")) == "η/‖(W, b)‖², together with b"


def test_table_is_written_in_every_format():
    table, parameters = measured("layer_norm_after")
    lines = str(table).splitlines()
    (row,) = [line.split() for line in lines if line.startswith("W ")]
    assert row[:6] == ["W", "6", "×", "5", "matrix", "✗"]
    assert "Ignored together: all of W, all of b × δ." in str(table)
    assert r"\begin{tabular}" in table.render("latex")
    assert "| W | 6 × 5 | matrix | ✗ | ✗ | ✓ |" in table.render("markdown")
    records = table.records().records()
    assert len(records) == 6 * len(parameters)
    rows = csv.DictReader(io.StringIO(table.render("csv")))
    assert [row["verdict"] or None for row in rows] == [one["verdict"] for one in records]
    told = {one["name"]: one["verdicts"] for one in json.loads(table.render("json"))["tensors"]}
    for one in records:
        sign, moved = told[one["tensor"]][one["change"]] or (None, None)
        assert (WORDS.get(sign), moved) == (one["verdict"], one["moved"])
    frame = table.to_frame()
    assert frame.shape == (len(records), len(records[0]))
    assert set(frame["verdict"].dropna()) == {"ignored", "not ignored"}
    assert "<caption>What this network ignores, as measured</caption>" in table._repr_html_()


def test_names_of_tensors_are_escaped():
    name = "<b>W</b>\x1b[31m"
    table = normgeo.measure(lambda p: p[name] ** 2, {name: np.ones((3, 2))})
    assert "<b>" not in table._repr_html_()
    assert "\x1b" not in str(table)
