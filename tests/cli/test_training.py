"""`normgeo training`: what it prints of a recording."""

import csv
import io
import json
import re

import numpy as np
import pytest

from normgeo import Recorder, findings, read_recording
from normgeo.__main__ import main
from normgeo.base.numbers import number
from normgeo.tables.formats import FORMATS


@pytest.fixture
def path(tmp_path, rng):
    file, w = tmp_path / "run", rng.standard_normal((2, 30))
    with Recorder(file, {"w": "batch"}, optimizer="adamw") as recorder:
        for _ in range(40):
            recorder.step({"w": w}, 0.01, decay=0.1, gradients={"w": w})
            w = w + 0.01 * rng.standard_normal(w.shape)
    return file


def test_every_format_names_every_block(path, capsys, subtests):
    for format in FORMATS:
        with subtests.test(format=format):
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


def test_report_in_a_file_has_the_numbers_and_the_sentences(path, tmp_path, capsys):
    norm = findings(read_recording(path))[0].norm
    for suffix in ("json", "csv"):
        assert main(["training", str(path), "--format", suffix]) == 0
        printed = capsys.readouterr().out
        assert main(["training", str(path), "-o", str(tmp_path / f"x.{suffix}")]) == 0
        assert (tmp_path / f"x.{suffix}").read_bytes().decode() == printed
        assert str(norm) in printed
    assert main(["training", str(path), "-o", str(tmp_path / "x.html")]) == 0
    html = (tmp_path / "x.html").read_text("utf-8")
    assert html.count("<tr>") == 1 + 2
    assert number(norm) in html
    assert "root mean squares over the last half" in html
    assert capsys.readouterr().out == ""


def test_report_of_another_kind_is_refused_before_a_file_is_read(tmp_path, capsys):
    assert main(["training", "none.run", "-o", str(tmp_path / "x.txt")]) == 2
    assert "to .html, .pdf, .md or .tex, and its numbers to .csv" in capsys.readouterr().err


def test_files_that_are_none_end_in_a_sentence(tmp_path, capsys, subtests):
    for content, status, sentence in [
        (None, 1, "No such file or directory."),
        (b"", 2, "it ends before its first step was recorded."),
        (b"PK\3\4", 2, "it begins with other bytes."),
    ]:
        with subtests.test(content=content, status=status, sentence=sentence):
            file = tmp_path / "x"
            if content is not None:
                file.write_bytes(content)
            assert main(["training", str(file)]) == status
            printed = capsys.readouterr()
            assert printed.out == ""
            assert printed.err.endswith(sentence + "\n")
            assert printed.err.count("\n") == 1


def test_a_recording_that_does_not_say_its_optimizer_is_told_without_predictions(tmp_path, capsys):
    with Recorder(tmp_path / "run", {"w": "batch"}) as recorder:
        recorder.step({"w": np.ones((1, 2))}, 0.1)
    assert main(["training", str(tmp_path / "run")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "1.41421" in printed
    assert "This run does not say its optimizer, so nothing is predicted." in printed
    assert main(["training", str(tmp_path / "run"), "--optimizer", "adam"]) == 0


def test_example_tells_its_story(capsys):
    assert main(["training", "--example", "--format", "json"]) == 0
    verdicts = [row["verdict"] for row in json.loads(capsys.readouterr().out)]
    assert verdicts == ["in balance"] * 5 + ["frozen"]


def test_a_file_or_the_example_is_asked_for(capsys, subtests):
    for both in [[], ["some.run", "--example"]]:
        with subtests.test(both=both):
            assert main(["training", *both]) == 2
            assert capsys.readouterr().err.endswith(
                "Give a file that `normgeo.Recorder` has written, checkpoints in the order of the "
                "run, or --example.\n"
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


def test_following_into_a_file_keeps_it_up_to_date(path, tmp_path, monkeypatch):
    report, seen = tmp_path / "run.json", []

    def wait(seconds):
        seen.append(json.loads(report.read_text("utf-8"))[0]["‖w‖"])
        if len(seen) == 2:
            raise KeyboardInterrupt
        with Recorder(path, {"w": "batch"}, append=True) as recorder:
            recorder.step({"w": np.full((2, 30), 9.0)}, 0.01, decay=0.1)

    monkeypatch.setattr("normgeo.cli.training.time.sleep", wait)
    assert main(["training", str(path), "--follow", "-o", str(report)]) == 130
    assert seen[1] > seen[0]


@pytest.fixture
def checkpoints(tmp_path, rng):
    """Files of a walk of a layer with batch norm, in kernels of JAX, with its weights (K, D, H)."""
    walk = np.cumsum(rng.standard_normal((6, 5, 3)), axis=0)
    for k, kernel in enumerate(walk):
        arrays = {"conv/kernel": kernel, "conv_bn/scale": np.ones(3), "conv_bn/mean": np.ones(3)}
        np.savez(tmp_path / f"net_{100 * k}.npz", **arrays)
    return [str(tmp_path / f"net_{100 * k}.npz") for k in range(6)], walk


def test_checkpoints_in_order_are_a_run(checkpoints, capsys):
    files, walk = checkpoints
    how = ["--optimizer", "adamw", "--rate", "0.01", "--decay", "0.1", "--format", "json"]
    assert main(["training", *files, *how]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["block"] for row in rows] == [f"conv/kernel[{h}]" for h in range(3)]
    half = walk[3:].transpose(0, 2, 1)  # (K, H, D)
    norms = np.sqrt((half**2).sum(axis=2).mean(axis=0))
    np.testing.assert_allclose([row["‖w‖"] for row in rows], norms, rtol=1e-12)
    before = walk[2:-1].transpose(0, 2, 1)
    cosines = (half * before).sum(2) / np.linalg.norm(half, axis=2) / np.linalg.norm(before, axis=2)
    angles = np.degrees(np.sqrt((np.arccos(cosines) ** 2).mean(axis=0)))
    np.testing.assert_allclose([row["angle (°)"] for row in rows], angles, rtol=1e-9)
    # Of AdamW in balance a step keeps 1 − ηλ of a direction; a hundred lie between two files.
    predicted = [row["predicted angle (°)"] for row in rows]
    np.testing.assert_allclose(predicted, np.degrees(np.arccos(0.999**100)), rtol=1e-6)
    assert main(["training", *files, *how, "--steps", "0,1,2,3,4,5"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["predicted angle (°)"] < 3


def test_what_checkpoints_lack_is_one_sentence(checkpoints, capsys, subtests):
    for words, sentence in [
        ([], "do not say at which learning rate η they were made"),
        (["--rate", "0.1", "--steps", "3,2,1,0,4,5"], "with a step for each, rising"),
        (["--rate", "0.1", "--steps", "1,2"], "got 6 files and 2 steps"),
        (["--rate", "0.1", "--steps", "1,x"], "whole numbers, as 0,500,1000; got '1,x'"),
    ]:
        with subtests.test(words=words, sentence=sentence):
            assert main(["training", *checkpoints[0], "--optimizer", "adam", *words]) == 2
            printed = capsys.readouterr()
            assert printed.out == ""
            assert sentence in printed.err
            assert printed.err.count("\n") == 1


def test_checkpoints_of_other_weights_and_recordings_among_them_are_refused(
    checkpoints, path, tmp_path, capsys
):
    other = tmp_path / "other.npz"
    np.savez(other, **{"conv/kernel": np.ones((5, 4))})
    assert main(["training", checkpoints[0][0], str(other), "--rate", "0.1"]) == 2
    assert "(5, 3) in the first one, and (5, 4) in" in capsys.readouterr().err
    np.savez(other, w=np.ones((5, 4)), b=np.ones(4))
    assert main(["training", checkpoints[0][0], str(other), "--rate", "0.1"]) == 2
    assert "in the first one, and is missing in" in capsys.readouterr().err
    assert main(["training", checkpoints[0][0], str(path), "--rate", "0.1"]) == 2
    assert "1 of these 2 files are recordings" in capsys.readouterr().err
    assert main(["training", checkpoints[0][0], "--rate", "0.1"]) == 2
    assert "two or more files with a step for each, rising; got 1 files" in capsys.readouterr().err


def test_report_does_not_replace_the_recording_that_it_is_made_from(path, tmp_path, capsys):
    recorded = tmp_path / "run.csv"
    recorded.write_bytes(path.read_bytes())
    assert main(["training", str(recorded), "-o", str(recorded)]) == 2
    assert "is a file that is read" in capsys.readouterr().err
    assert recorded.read_bytes() == path.read_bytes()


def test_names_in_a_recording_command_no_terminal(tmp_path, capsys, rng):
    name, w = "\x1b[2J\u202e=cmd", rng.standard_normal((2, 30))
    with Recorder(tmp_path / "run", {name: "batch"}, optimizer="adamw") as recorder:
        for _ in range(4):
            recorder.step({name: w}, 0.01, decay=0.1, gradients={name: w})
    for format in FORMATS:
        assert main(["training", str(tmp_path / "run"), "--format", format]) == 0
        printed = capsys.readouterr().out
        assert "cmd" in printed
        assert not {"\x1b", "\u202e"} & {*printed}
