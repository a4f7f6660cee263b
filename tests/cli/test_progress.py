"""Commands that take over a second say how far they are, and leave no half-written file."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic

import plotly.graph_objects as go
import pytest

import normgeo.pictures
from normgeo.__main__ import main
from normgeo.base.progress import Progress
from normgeo.cli.progress import Progress as Bar
from normgeo.pictures import PICTURES
from normgeo.pictures.picture import Picture, Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

ROOT = Path(__file__).parents[2]
Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def test_progress_is_silent_for_a_second(capsys: Captured) -> None:
    with Bar() as progress:
        progress(1, 2)
        progress(2, 2)
    assert capsys.readouterr() == ("", "")


def test_progress_is_a_bar_of_the_share_that_is_done(capsys: Captured, monkeypatch: Patch) -> None:
    monkeypatch.setattr("normgeo.cli.progress.PATIENCE", 0)
    monkeypatch.setattr("normgeo.cli.progress.BETWEEN", 0)
    with Bar() as progress:
        for done in (0, 1200, 2400):
            progress(done, 2400)
    assert capsys.readouterr().err == (
        "\r[------------------------] Step 0 of 2,400"
        "\r[############------------] Step 1,200 of 2,400"
        "\r[########################] Step 2,400 of 2,400\n"
    )


def test_a_shorter_line_covers_a_longer_one(capsys: Captured, monkeypatch: Patch) -> None:
    monkeypatch.setattr("normgeo.cli.progress.PATIENCE", 0)
    monkeypatch.setattr("normgeo.cli.progress.BETWEEN", 0)
    with Bar() as progress:
        progress(10, 10)
        progress(1, 2)
    *_, long, short = capsys.readouterr().err.rstrip("\n").split("\r")
    assert short == "[############------------] Step 1 of 2".ljust(len(long))


def test_progress_leaves_no_line_on_a_terminal(capsys: Captured, monkeypatch: Patch) -> None:
    monkeypatch.setattr("normgeo.cli.progress.PATIENCE", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Bar("{done} of {all}") as progress:
        progress(1, 2)
    line = "[############------------] 1 of 2"
    assert capsys.readouterr().err == f"\r{line}\r{' ' * len(line)}\r"


def compute(settings: Settings, progress: Progress) -> Settings:
    """Tell of two steps of four; the δ of 2 is somebody who presses Ctrl-C there."""
    progress.tell(1, 4)
    progress.tell(2, 4)
    if settings.delta == 2:
        raise KeyboardInterrupt
    return settings


@pytest.fixture
def slow(monkeypatch: Patch) -> None:
    monkeypatch.setattr("normgeo.cli.progress.PATIENCE", 0)
    monkeypatch.setattr("normgeo.cli.progress.BETWEEN", 0)
    study = Study(
        "slow",
        "The slow one",
        "Nothing.",
        ("delta",),
        compute,
        lambda settings: Table(("delta",), ((settings.delta,),)),
    )
    picture = Picture(study, lambda settings, theme: go.Figure())
    monkeypatch.setattr(normgeo.pictures, "PICTURES", {"slow": picture})


BARS = "\r[######------------------] Step 1 of 4\r[############------------] Step 2 of 4\n"


def asked(command: str, folder: Path, *settings: str) -> tuple[list[str], Path]:
    """The words of a command that draws the view into a folder, and the file it is to write."""
    page = folder / "slow.html"
    if command == "render":
        return [command, "slow", *settings, "-o", str(page)], page
    return [command, str(folder), *settings], page


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("command", ["render", "figures"])
def test_views_that_take_long_show_a_bar(command: str, tmp_path: Path, capsys: Captured) -> None:
    words, page = asked(command, tmp_path)
    assert main(words) == 0
    assert capsys.readouterr().err == f"[1/1] The slow one: {page}\n{BARS}"
    assert list(tmp_path.iterdir()) == [page]


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("command", ["render", "figures"])
def test_an_interruption_ends_the_bar_and_leaves_no_file(
    command: str, tmp_path: Path, capsys: Captured
) -> None:
    words, page = asked(command, tmp_path, "delta=2")
    assert main(words) == 130
    assert capsys.readouterr().err == (
        f"[1/1] The slow one: {page}\n{BARS}Interrupted. Every file that was written is whole.\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="sends the signal of Ctrl-C")
def test_ctrl_c_in_the_middle_of_training_leaves_nothing_behind(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "normgeo",
            "render",
            "training",
            "epochs=50",
            "-o",
            str(tmp_path / "a.html"),
            "-o",
            str(tmp_path / "a.csv"),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"},
    )
    assert process.stderr is not None
    seen, until = b"", monotonic() + 120
    while b"] Step" not in seen and monotonic() < until:
        seen += os.read(process.stderr.fileno(), 1000)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    words = (seen + rest).decode()
    assert process.returncode == 130
    assert re.search(r"\r\[#*-+\] Step [\d,]+ of [\d,]+\n", words), words
    assert words.endswith("\nInterrupted. Every file that was written is whole.\n")
    assert list(tmp_path.iterdir()) == []


class Heard(Exception):
    """A report has heard of a step: the rest need not be computed."""


@pytest.mark.parametrize("name", ["descent", "training", "recurrence", "radii", "symmetry"])
def test_pictures_that_may_take_over_a_second_tell_of_their_progress(name: str) -> None:
    def report(done: int, steps: int) -> None:
        assert 0 <= done < steps
        raise Heard

    with pytest.raises(Heard):
        PICTURES[name].compute(Settings(), report)
