"""`normgeo training`: what it prints of a recording."""

import csv
import io
import json
import re

import numpy as np
import pytest

from normgeo import Recorder, findings, read_recording
from normgeo.__main__ import main
from normgeo.tables.formats import FORMATS


@pytest.fixture
def path(tmp_path, rng):
    file, w = tmp_path / "run", rng.standard_normal((2, 30))
    with Recorder(file, {"w": "batch"}, optimizer="adamw") as recorder:
        for _ in range(40):
            recorder.step({"w": w}, 0.01, decay=0.1, gradients={"w": w})
            w = w + 0.01 * rng.standard_normal(w.shape)
    return file


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_names_every_block(path, capsys, format):
    assert main(["training", str(path), "--format", format]) == 0
    printed = capsys.readouterr().out
    plain = re.sub(r"\\([\[\]])|\{([\[\]])\}", r"\1\2", printed)  # of Markdown and LaTeX
    assert "w[0]" in plain
    assert "still" in printed


def test_numbers_are_the_findings(path, capsys):
    run = read_recording(path)
    for options in ([], ["--optimizer", "lion"]):
        assert main(["training", str(path), *options, "--format", "json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        found = findings(run, *options[1:])
        assert [row["‖w‖"] for row in rows] == [one.norm for one in found]
        assert [row["angle (°)"] for row in rows] == [np.degrees(one.angle) for one in found]
        assert [row["verdict"] for row in rows] == [one.verdict for one in found]
    assert main(["training", str(path), "--frozen", "90", "--format", "csv"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert [row["verdict"] for row in rows] == ["frozen", "frozen"]


@pytest.mark.parametrize(
    ("content", "status", "sentence"),
    [
        (None, 1, "No such file or directory."),
        (b"", 2, "it ends before its first step was recorded."),
        (b"PK\3\4", 2, "it begins with other bytes."),
    ],
)
def test_files_that_are_none_end_in_a_sentence(tmp_path, capsys, content, status, sentence):
    file = tmp_path / "x"
    if content is not None:
        file.write_bytes(content)
    assert main(["training", str(file)]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.endswith(sentence + "\n")
    assert printed.err.count("\n") == 1


def test_a_recording_that_does_not_say_its_optimizer_asks_for_it(tmp_path, capsys):
    with Recorder(tmp_path / "run", {"w": "batch"}) as recorder:
        recorder.step({"w": np.ones((1, 2))}, 0.1)
    assert main(["training", str(tmp_path / "run")]) == 2
    assert "does not say which" in capsys.readouterr().err
    assert main(["training", str(tmp_path / "run"), "--optimizer", "adam"]) == 0


def test_example_tells_its_story(capsys):
    assert main(["training", "--example", "--format", "json"]) == 0
    verdicts = [row["verdict"] for row in json.loads(capsys.readouterr().out)]
    assert verdicts == ["in balance"] * 5 + ["frozen"]


@pytest.mark.parametrize("both", [[], ["some.run", "--example"]])
def test_a_file_or_the_example_is_asked_for(capsys, both):
    assert main(["training", *both]) == 2
    assert capsys.readouterr().err.endswith(
        "Give a file that `normgeo.Recorder` has written, or --example.\n"
    )


def test_a_cut_file_is_printed_with_a_sentence(path, capsys):
    path.write_bytes(path.read_bytes()[:-3])
    assert main(["training", str(path)]) == 0
    assert "The file ends within a record, after 39 whole ones" in " ".join(
        capsys.readouterr().out.split()
    )


def test_following_prints_what_is_new_until_it_is_interrupted(path, capsys, monkeypatch):
    with Recorder(path, {"w": "batch"}, append=True) as recorder:
        looks = []

        def wait(seconds):
            looks.append(seconds)
            if len(looks) == 3:
                raise KeyboardInterrupt
            if len(looks) == 2:
                recorder.step({"w": np.ones((2, 30))}, 0.01, decay=0.1)

        monkeypatch.setattr("normgeo.cli.training.time.sleep", wait)
        assert main(["training", str(path), "--follow"]) == 130
    printed = capsys.readouterr().out
    assert printed.count("40 records of 39 steps") == 1
    assert printed.count("41 records of 40 steps") == 1
