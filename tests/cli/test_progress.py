"""Commands that take over a second say how far they are, and leave no half-written file."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic

import numpy as np
import plotly.graph_objects as go
import pytest

import normgeo.pictures
from normgeo.__main__ import main
from normgeo.base.progress import Progress
from normgeo.cli.progress import Bar
from normgeo.pictures import PICTURES
from normgeo.pictures.picture import Picture, Study
from normgeo.settings import Settings
from normgeo.tables.table import Table

ROOT = Path(__file__).parents[2]
Captured = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


@pytest.fixture
def impatient(monkeypatch: Patch) -> None:
    """Bars that begin at once and follow every step."""
    monkeypatch.setattr("normgeo.cli.progress.PATIENCE", 1e-9)
    monkeypatch.setattr("normgeo.cli.progress.BETWEEN", 0)


def bar(share: float, words: str) -> str:
    return f"|{'█' * int(24 * share)}{' ' * (24 - int(24 * share))}| {words}"


def test_progress_is_silent_for_a_second(capsys: Captured) -> None:
    with Bar() as report:
        report(1, 2)
        report(2, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("impatient")
def test_progress_is_a_bar_of_the_share_that_is_done(capsys: Captured) -> None:
    with Bar() as report:
        for done in (0, 1200, 2400):
            report(done, 2400)
    *lines, end = capsys.readouterr().err.split("\r")
    assert lines[1:] == [bar(0.5, "Step 1,200 of 2,400"), bar(1, "Step 2,400 of 2,400")]
    assert end == bar(1, "Step 2,400 of 2,400") + "\n"


@pytest.mark.usefixtures("impatient")
def test_a_shorter_line_covers_a_longer_one(capsys: Captured) -> None:
    with Bar() as report:
        report(9, 10)
        report(1, 2)
    _, long, short, *_ = capsys.readouterr().err.split("\r")
    assert short.rstrip() == bar(0.5, "Step 1 of 2")
    assert len(short.rstrip()) < len(long) <= len(short.rstrip("\n"))


@pytest.mark.usefixtures("impatient")
def test_progress_leaves_no_line_on_a_terminal(capsys: Captured, monkeypatch: Patch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Bar() as report:
        report(1, 2)
    line = bar(0.5, "Step 1 of 2")
    assert capsys.readouterr().err == f"\r{line}\r{' ' * len(line)}\r"


@pytest.mark.usefixtures("impatient")
def test_an_interruption_while_a_bar_is_written_ends_its_line(
    capsys: Captured, monkeypatch: Patch
) -> None:
    write, presses = sys.stderr.write, iter([KeyboardInterrupt])

    def interrupted(words: str) -> int:
        count = write(words)
        if "Step" in words:
            for press in presses:
                raise press
        return count

    monkeypatch.setattr(sys.stderr, "write", interrupted)
    with pytest.raises(KeyboardInterrupt), Bar() as report:
        report(1, 2)
    assert capsys.readouterr().err.endswith(bar(0.5, "Step 1 of 2") + "\n")


def compute(settings: Settings, progress: Progress) -> Settings:
    """Tell of two steps of four; the δ of 2 is somebody who presses Ctrl-C there."""
    progress.tell(1, 4)
    progress.tell(2, 4)
    if settings.delta == 2:
        raise KeyboardInterrupt
    return settings


@pytest.fixture
def slow(impatient: None, monkeypatch: Patch) -> None:
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


STEPS = ((0.25, "Step 1 of 4"), (0.5, "Step 2 of 4"), (0.5, "Step 2 of 4"))
BARS = "".join(f"\r{bar(share, words)}" for share, words in STEPS)


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
    assert capsys.readouterr().err == f"[1/1] The slow one: {page}\n{BARS}\n"
    assert list(tmp_path.iterdir()) == [page]


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("command", ["render", "figures"])
def test_an_interruption_ends_the_bar_and_leaves_no_file(
    command: str, tmp_path: Path, capsys: Captured
) -> None:
    words, page = asked(command, tmp_path, "delta=2")
    assert main(words) == 130
    assert capsys.readouterr().err == (
        f"[1/1] The slow one: {page}\n{BARS}\nInterrupted. Every file that was written is whole.\n"
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
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "ascii"},
    )
    assert process.stderr is not None
    seen, until = b"", monotonic() + 120
    while b"| Step" not in seen and monotonic() < until:
        seen += os.read(process.stderr.fileno(), 1000)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=120)
    words = (seen + rest).decode()
    assert process.returncode == 130
    assert re.search(r"\r\|[#\d ]+\| Step [\d,]+ of [\d,]+\n", words), words
    assert words.endswith("\nInterrupted. Every file that was written is whole.\n")
    assert list(tmp_path.iterdir()) == []


class Heard(Exception):
    """A report has heard of a step: the rest need not be computed."""


def test_pictures_that_may_take_over_a_second_tell_of_their_progress(
    subtests: pytest.Subtests,
) -> None:
    for name in [
        "descent",
        "training",
        "recurrence",
        "radii",
        "symmetry",
        "cells",
        "learning",
        "longer",
    ]:
        with subtests.test(name=name):

            def report(done: int, steps: int) -> None:
                assert 0 <= done < steps
                raise Heard

            with pytest.raises(Heard):
                PICTURES[name].compute(Settings(), report)


def test_a_spectrum_from_products_is_told_of_each_of_them(
    impatient: None, capsys: Captured, tmp_path: Path
) -> None:
    """As a share of the command, of which the spectrum is the first third."""
    rng = np.random.default_rng(0)
    for letter, shape in (("W", (6, 80)), ("X", (20, 80))):
        np.save(tmp_path / f"{letter}.npy", rng.standard_normal(shape))
    files = [f"-{letter}={tmp_path / letter}.npy" for letter in "WX"]
    main(["fisher", *files, "method=batch", "-k", "5"])
    told = re.findall(r"(\d+) %: spectrum", capsys.readouterr().err)
    assert len(told) > 20
    assert [int(share) for share in told] == sorted(int(share) for share in told)
