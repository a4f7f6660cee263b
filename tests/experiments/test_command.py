"""`normgeo experiment` where nothing learns: its list and its refusals."""

import argparse
import importlib.util
import re
import shlex

import pytest

from normgeo.__main__ import main
from normgeo.cli import experiment
from normgeo.cli.progress import time_in_words
from normgeo.experiments.results import STATEMENTS, load


def test_list_names_every_experiment_and_without_jax_tells_the_time_of_elsewhere(
    monkeypatch, capsys
):
    monkeypatch.setattr("normgeo.cli.experiment.find_spec", lambda name: None)
    assert main(["experiment", "--list"]) == 0
    said = capsys.readouterr().out
    for name in STATEMENTS:
        assert re.search(rf"{name} .* {time_in_words(load(name).seconds)} .* GB ", said)
    assert "without JAX this one cannot be timed" in " ".join(said.split())


@pytest.mark.parametrize("library", ["jax", "optax"])
def test_without_its_libraries_one_sentence_says_how_to_install_them(library, monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "normgeo.cli.experiment.find_spec",
        lambda name: None if name == library else found("json"),
    )
    assert main(["experiment", "draw", "--steps", "3"]) == 1
    said = capsys.readouterr().err
    assert said == ('The experiments need JAX and optax: pip install "normgeo[experiments]".\n')


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], f"Name an experiment: {', '.join(STATEMENTS)}."),
        (["draw", "--steps", "0"], "at least 1"),
        (["draw", "--seeds", "1,1"], "different numbers"),
        (["draw", "--seeds=-1"], "different numbers"),
        (["draw", "--seeds", "1.5"], "as 0,1,2; got '1.5'"),
        (["draw", "--rates", "0.1,0"], "as 0.001,0.01; got '0.1,0'"),
        (["draw", "--rates", "nan"], "got 'nan'"),
        (["draw", "-o", "x.csv"], "written to .json; got x.csv"),
        (["draw", "-o", "."], "written to .json"),
        (["draw", "--resume", "."], "Only a file is written over"),
    ],
)
def test_bad_requests_get_a_sentence_before_anything_is_computed(arguments, sentence, capsys):
    assert main(["experiment", *arguments]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("data", [None, "a folder/with 'quotes'"])
def test_the_command_of_a_result_asks_again_for_what_decided_it(data):
    """Its words, read as a shell and the command line read them, are the options."""
    parser = argparse.ArgumentParser()
    experiment.add(parser.add_subparsers())
    given = ["experiment", "draw", "--norm", "layer", *([] if data is None else ["--data", data])]
    asked = {"steps": 7, "seeds": (0, 2), "rates": (0.001, 0.03)}
    command = experiment.command_of(parser.parse_args(given), asked)
    python, *words = shlex.split(command)
    assert (python, words[:2]) == ("python", ["-m", "normgeo"])
    again = vars(parser.parse_args(words[2:]))
    whole = {"name": "draw", "norm": "layer", "data": data, "steps": 7}
    assert {name: again[name] for name in whole} == whole
    assert (again["seeds"], again["rates"]) == ("0,2", "0.001,0.03")


def test_unknown_experiment_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["experiment", "drawn"])
    assert "'drawn'" in capsys.readouterr().err
