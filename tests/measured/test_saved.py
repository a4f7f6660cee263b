"""Measured tables in files: what is read is what was written; anything else is refused."""

import json
import os
from dataclasses import asdict

import numpy as np
import pytest

import normgeo
from normgeo.base.progress import Stop
from normgeo.measured.saved.reading import LARGEST, is_measured
from tests.measured.networks import NETWORKS
from tests.refused import says

# Blocks, dead rows, rows of zeros, a tensor that nothing asks about, trades and shifts.
NAMES = ("layer_norm_after", "group_norm", "gain_of_zero", "row_of_zeros", "dead_relu", "pre_norm")


def measured(name, **options):
    known = NETWORKS[name]
    return normgeo.measure(known.f, known.draw(np.random.default_rng(3)), **options)


def plainly(table):
    """Turn a table into plain values, by the attributes of its classes."""
    tensors = {
        name: vars(one) | {"norms": one.norms.tolist()} for name, one in table.tensors.items()
    }
    return {**vars(table), "tensors": tensors, "trades": [asdict(one) for one in table.trades]}


@pytest.mark.parametrize("name", NAMES)
def test_saved_table_is_read_as_it_was(name, tmp_path):
    table = measured(name)
    table.save(tmp_path / "t.json")
    again = normgeo.read_measured(tmp_path / "t.json")
    assert plainly(again) == plainly(table)
    assert str(again) == str(table)
    assert again.groups() == table.groups()
    assert is_measured(tmp_path / "t.json")


def test_axes_by_name_embeddings_and_matrices_come_back(tmp_path):
    (name, *_) = measured("pre_norm").names
    table = measured("pre_norm", neurons={name: 0}, embeddings=[name], matrices=[name])
    table.save(tmp_path / "t.json")
    again = normgeo.read_measured(tmp_path / "t.json")
    assert again.options == table.options
    assert [again.place(one) for one in again.tensors] == [
        table.place(one) for one in table.tensors
    ]


def test_table_in_part_is_saved_and_gone_on_with(tmp_path):
    def stop(done, steps):
        if done > 60:
            raise Stop

    known = NETWORKS["layer_norm_after"]
    parameters = known.draw(np.random.default_rng(3))
    normgeo.measure(known.f, parameters, progress=stop).save(tmp_path / "part.json")
    part = normgeo.read_measured(tmp_path / "part.json")
    assert not part.complete
    assert 0 < len(part.tensors) < len(parameters)
    whole = normgeo.measure(known.f, parameters, resume=part)
    expected = plainly(measured("layer_norm_after"))
    assert plainly(whole) | {"calls": 0} == expected | {"calls": 0}


def test_what_is_infinite_has_no_number_in_json_and_comes_back_infinite(tmp_path):
    table = normgeo.measure(lambda p: np.exp(p["w"]), {"w": np.full((2, 2), 600.0)})
    verdict = table.tensors["w"].verdicts["all_times"]
    assert verdict.moved == np.inf
    table.save(tmp_path / "t.json")
    assert normgeo.read_measured(tmp_path / "t.json").tensors["w"].verdicts["all_times"] == verdict


@pytest.mark.parametrize("kind", ["json", "csv", "html", "md", "tex"])
def test_each_kind_of_file_has_every_tensor(kind, tmp_path):
    table = measured("pre_norm")
    table.save(tmp_path / f"t.{kind}")
    content = (tmp_path / f"t.{kind}").read_text("utf-8")
    lines = [line for line in content.splitlines() if "✗" in line or "not ignored" in line]
    if kind == "json":
        assert {one["name"] for one in json.loads(content)["tensors"]} == {*table.tensors}
    elif kind == "csv":
        assert {line.split(",")[0] for line in lines} == {*table.tensors}
    else:
        assert all(f">{n}<" in content or f"{n} " in content for n in table.tensors)
        assert "Parameter groups for weight decay" in content
    assert os.listdir(tmp_path) == [f"t.{kind}"]


def test_table_is_saved_as_what_its_name_says(tmp_path):
    with says(
        f"A measured table is saved as one of .html, .md, .tex, .csv, .json; got {tmp_path}/t.pkl."
    ):
        measured("tanh").save(tmp_path / "t.pkl")
    assert not os.listdir(tmp_path)


def changed(table, **values):
    return {**table, **values}


def first(table, **values):
    return {**table, "tensors": [{**table["tensors"][0], **values}, *table["tensors"][1:]]}


DAMAGES = {
    "an array": (lambda t: [t], "list indices"),
    "another file": (lambda t: {"weights": 1}, "'normgeo'"),
    "a later version": (
        lambda t: changed(t, normgeo="measured table 9"),
        "it is 'measured table 9', and this version reads 'measured table 1'",
    ),
    "another sign": (lambda t: first(t, verdicts={"all_times": ["!", 0]}), "the sign '!'"),
    "no list": (lambda t: first(t, rows=3), "not iterable"),
    "rows beyond": (lambda t: first(t, zeros=[[0, 10**12]]), "1000000000000 where a whole number"),
    "rows twice": (lambda t: first(t, dead=[[0, 1], [1, 2]]), "a row is told of twice"),
    "another shape": (lambda t: first(t, shape=[7, 7]), "6 norms of rows, and a shape of (7, 7)"),
    "a negative length": (lambda t: first(t, influence=-1), "-1 where a length is"),
    "a name twice": (
        lambda t: changed(t, tensors=[*t["tensors"], t["tensors"][0]]),
        "two tensors have one name",
    ),
    "a tensor less": (lambda t: changed(t, tensors=t["tensors"][1:]), "does not name"),
    "complete in part": (
        lambda t: changed(t, tensors=t["tensors"][1:], roles={}),
        "it says that it is complete, and is not",
    ),
    "another role": (lambda t: changed(t, roles={"W": "boss"}), "the role 'boss'"),
    "a trade of nothing": (
        lambda t: changed(t, trades=[{"parts": [["?", "all", 1]]}]),
        "a trade of '?' by 'all'",
    ),
    "a power of a million": (
        lambda t: changed(t, trades=[{"parts": [["W", "all", 10**6]]}]),
        "1000000 where a whole number is",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_file_that_is_no_table_is_refused_in_a_sentence(damage, tmp_path):
    change, why = DAMAGES[damage]
    table = json.loads(measured("layer_norm_after").render("json"))
    path = tmp_path / "t.json"
    path.write_text(json.dumps(change(table)), "utf-8")
    with pytest.raises(normgeo.base.refusal.Refusal) as refused:
        normgeo.read_measured(path)
    sentence = str(refused.value)
    assert sentence.startswith(
        "A measured table is a .json file that `MeasuredTable.save` or `normgeo network` has "
        f"written; {path} is none ("
    )
    assert why in sentence


HOSTILE = {
    "empty": b"",
    "cut": b'{"normgeo": "measured table 1", "tens',
    "deep": b'{"normgeo":' + b"[" * 200_000,
    "no text": bytes(range(256)),
    "a number of a million digits": b'{"normgeo": ' + b"9" * 10**6 + b"}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_bytes_that_are_no_table_are_refused_in_a_sentence(name, tmp_path):
    (tmp_path / "t.json").write_bytes(HOSTILE[name])
    with pytest.raises(normgeo.base.refusal.Refusal, match=r"t\.json is none \("):
        normgeo.read_measured(tmp_path / "t.json")


def test_files_that_never_end_or_are_not_there_are_told(tmp_path):
    with says("/dev/zero is no file but a pipe or a device."):
        normgeo.read_measured("/dev/zero")
    with pytest.raises(FileNotFoundError):
        normgeo.read_measured(tmp_path / "none.json")
    with (tmp_path / "t.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    with says(f"{tmp_path}/t.json is too large for a measured table: up to 100 MB are read."):
        normgeo.read_measured(tmp_path / "t.json")
    assert not is_measured(tmp_path / "none.json")
    assert not is_measured(tmp_path / "t.json")
