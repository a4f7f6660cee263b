"""The command line: what it prints, the files it writes, its statuses and its sentences."""

import csv
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import normgeo.pictures
from normgeo.__main__ import main
from normgeo.base.progress import Progress
from normgeo.base.refusal import Refusal
from normgeo.pictures import PICTURES
from normgeo.pictures.picture import Picture, Study
from normgeo.pictures.style import static
from normgeo.settings import RULES, Settings
from normgeo.tables.formats import FORMATS, render
from normgeo.tables.table import Table
from normgeo.tables.verdicts import COLUMNS, ROWS, verdict_records, verdict_table

ROOT = Path(__file__).parents[2]
Captured = pytest.CaptureFixture[str]


def run(*arguments: str, code: str = "", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own; `code` runs after it, in the same process."""
    command = ["-m", "normgeo", *arguments]
    if code:
        command = ["-c", f"from normgeo.__main__ import main; main({list(arguments)!r}); {code}"]
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, "COLUMNS": "80", "OPENBLAS_NUM_THREADS": "1", **environment},
    )


def compute(settings: Settings, progress: Progress) -> Settings:
    if settings.delta == 1:
        raise Refusal("A factor of 1 changes nothing. Use another δ.")
    if settings.delta == 2:
        raise KeyboardInterrupt
    return settings


@pytest.fixture
def views(monkeypatch: pytest.MonkeyPatch) -> dict[str, Picture]:
    """Two quick views in place of the real ones; their δ makes them fail or be interrupted."""
    views = {
        name: Picture(
            Study(
                name,
                f"The {name} one",
                "A bar.",
                ("delta", "seed"),
                compute,
                lambda settings: Table(("delta", "seed"), ((settings.delta, settings.seed),)),
            ),
            lambda settings, theme: go.Figure(go.Bar(y=[settings.delta]), {"title": theme}),
        )
        for name in ("first", "second")
    }
    monkeypatch.setattr(normgeo.pictures, "PICTURES", views)
    return views


# table


def test_table_prints_what_the_tables_say(capsys: Captured, subtests: pytest.Subtests) -> None:
    for format in FORMATS:
        with subtests.test(format=format):
            assert main(["table", "--format", format]) == 0
            table = verdict_records() if format in {"csv", "json"} else verdict_table()
            assert capsys.readouterr() == (render(table, format), "")


def test_table_takes_rows_columns_eps_and_sign(capsys: Captured, subtests: pytest.Subtests) -> None:
    for arguments, rows, columns in [
        (["--all"], "grid", "all"),
        (["--rows", "named"], "named", "paper"),
        (["--columns", "all", "--rows", "paper"], "paper", "all"),
    ]:
        with subtests.test(arguments=arguments, rows=rows, columns=columns):
            assert main(["table", *arguments, "--eps", "1e-3", "--negative"]) == 0
            expected = verdict_table(ROWS[rows], COLUMNS[columns], 1e-3, negative=True)
            assert capsys.readouterr().out == render(expected, "text")


def test_table_refuses_a_bad_eps(capsys: Captured) -> None:
    assert main(["table", "--eps", "-1"]) == 2
    assert capsys.readouterr() == ("", "`eps` must be a number from 0 to 1; got '-1'.\n")


def test_table_needs_neither_plotly_nor_streamlit_nor_scikit_learn() -> None:
    heavy = ["plotly", "streamlit", "sklearn", "choreographer"]
    done = run("table", code=f"import sys; print([m for m in {heavy} if m in sys.modules])")
    assert done.stdout.decode().splitlines()[-1] == "[]"
    assert done.stderr == b""


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "format",
    [
        pytest.param(format, marks=[pytest.mark.exhaustive] * (format not in {"text", "csv"}))
        for format in FORMATS
    ],
)
def test_table_prints_in_any_encoding(format: str) -> None:
    done = run("table", "--eps", "1e-5", "--format", format, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    words = done.stdout.decode("ascii")
    assert "?" not in words
    if format == "text":
        assert "batch norm     ~     no      ~      ~     yes    no" in words
    if format == "csv":
        found = {record["verdict"] for record in csv.DictReader(io.StringIO(words, newline=""))}
        assert found == {"invariant", "not invariant", "invariant only at eps = 0"}
        assert "\r\r" not in words


def test_help_prints_in_any_encoding() -> None:
    done = run("table", "--help", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"delta < 0" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell's pipe")
def test_a_reader_that_leaves_early_gets_no_complaint() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "normgeo", "table"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 141


# render


def read(path: Path) -> dict[str, str]:
    (record,) = csv.DictReader(io.StringIO(path.read_text("utf-8"), newline=""))
    return record


def test_render_draws_a_view_with_settings(
    views: dict[str, Picture], tmp_path: Path, capsys: Captured
) -> None:
    page, numbers = tmp_path / "a.html", tmp_path / "a.csv"
    command = ["render", "first", "delta=0.5", "theme=dark", "-o", str(page), "-o", str(numbers)]
    assert main(command) == 0
    assert capsys.readouterr() == ("", f"[1/1] The first one: {page}, {numbers}\n")
    assert "<title>The first one</title>" in page.read_text("utf-8")
    assert f'<figcaption id="alt">{views["first"].alt}</figcaption>' in page.read_text("utf-8")
    assert '"text":"dark"' in page.read_text("utf-8")
    assert read(numbers) == {"delta": "0.5", "seed": "0"}


@pytest.mark.parametrize("place", ["file", "standard input"])
def test_render_draws_a_recipe_and_settings_after_it_win(
    place: str, views: dict[str, Picture], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, numbers = tmp_path / "recipe.json", tmp_path / "a.json"
    made = {**views["second"].recipe(Settings(delta=0.5, seed=3)), "version": "0.1.0"}
    recipe.write_text(json.dumps(made), "utf-8")
    monkeypatch.setattr(sys, "stdin", io.StringIO(recipe.read_text("utf-8")))
    target = str(recipe) if place == "file" else "-"
    assert main(["render", target, "seed=4", "-o", str(numbers)]) == 0
    assert json.loads(numbers.read_text("utf-8")) == [{"delta": 0.5, "seed": 4}]


NO_RECIPE = (
    'A recipe is a JSON object such as {"view": "effect", "settings": {"delta": 5}, '
    '"version": "0.1.0"}; - is not one'
)
SENTENCES = [
    (["third"], "There is no picture 'third'. The pictures are first, second; a recipe is a file."),
    (["first", "delta=0"], "`delta` must be a number from -100 to 100, not 0; got '0'."),
    (["first", "detla=3"], "There is no setting 'detla'."),
    (["first", "delta"], "A setting is written name=value; got 'delta'."),
    (
        ["first", "-o", "a.bmp"],
        "A figure's file must end in one of .html, .png, .svg, .pdf, .gif; got 'a.bmp'.",
    ),
    (["first", "delta=1"], "A factor of 1 changes nothing. Use another δ."),
]


@pytest.mark.usefixtures("views")
def test_render_refuses_in_a_sentence(
    tmp_path: Path, capsys: Captured, subtests: pytest.Subtests
) -> None:
    for arguments, sentence in SENTENCES:
        with subtests.test(arguments=arguments, sentence=sentence):
            assert main(["render", *arguments, "-o", str(tmp_path / "a.html")]) == 2
            out, err = capsys.readouterr()
            assert out == ""
            assert err.splitlines()[-1] == sentence
            assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("views")
def test_a_file_that_is_no_recipe_is_refused_in_a_sentence(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for content, why in [
        ("", " (Expecting value: line 1 column 1 (char 0))."),
        ('{"view": ', " (Expecting value: line 1 column 10 (char 9))."),
        ("3", "."),
        ("[]", "."),
        ("{}", "."),
        ('{"view": 3}', "."),
        ('{"view": "first", "settings": [1]}', "."),
        ('{"view": "first", "setings": {}}', "."),
        ("[" * 100_000, " (nested too deeply)."),
        ('{"view": "first"}' + " " * 1_000_000, "."),
    ]:
        with subtests.test(content=content, why=why):
            monkeypatch.setattr(sys, "stdin", io.StringIO(content))
            assert main(["render", "-", "-o", str(tmp_path / "a.html")]) == 2
            assert capsys.readouterr() == ("", NO_RECIPE + why + "\n")


@pytest.mark.usefixtures("views")
@pytest.mark.parametrize("opening", ['{"view": ', '{"view": "first", "settings": {"delta": '])
def test_a_recipe_of_any_depth_is_refused_in_a_sentence(
    opening: str, tmp_path: Path, capsys: Captured
) -> None:
    recipe = tmp_path / "recipe.json"
    for depth in (1, 100, *range(300, 1100, 50), 5000):
        closing = "}" * opening.count("{")
        recipe.write_text(opening + "[" * depth + "]" * depth + closing)
        assert main(["render", str(recipe), "-o", str(tmp_path / "a.html")]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n"), err[-2:]) == ("", 1, ".\n")


@pytest.mark.usefixtures("views")
def test_a_bad_value_in_a_recipe_is_refused_not_replaced(tmp_path: Path, capsys: Captured) -> None:
    recipe = tmp_path / "recipe.json"
    recipe.write_text('{"view": "first", "settings": {"delta": NaN}}', "utf-8")
    assert main(["render", str(recipe), "-o", str(tmp_path / "a.csv")]) == 2
    assert capsys.readouterr().err == (
        "`delta` must be a number from -100 to 100, not 0; got 'nan'.\n"
    )
    assert list(tmp_path.iterdir()) == [recipe]


@pytest.mark.usefixtures("views")
def test_what_cannot_be_read_or_written_is_named(tmp_path: Path, capsys: Captured) -> None:
    recipe, page = str(tmp_path / "none.json"), str(tmp_path / "none" / "a.html")
    assert main(["render", recipe, "-o", page]) == 1
    assert capsys.readouterr().err == f"{recipe}: No such file or directory.\n"
    assert main(["render", "first", "-o", page]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"{page}: No such file or directory."


@pytest.mark.usefixtures("views")
def test_only_a_file_that_may_be_changed_is_replaced(tmp_path: Path, capsys: Captured) -> None:
    read_only, pipe, folder = (tmp_path / f"{name}.html" for name in ("locked", "pipe", "folder"))
    read_only.write_text("old")
    read_only.chmod(0o444)
    folder.mkdir()
    refused = {
        read_only: (1, f"{read_only}: it is read-only.\n"),
        folder: (2, f"Only a file is written over; {folder} is a folder, pipe or device.\n"),
    }
    if sys.platform != "win32":
        os.mkfifo(pipe)
        refused[pipe] = (2, refused[folder][1].replace("folder.html", "pipe.html"))
    for path, (status, sentence) in refused.items():
        assert main(["render", "first", "-o", str(path)]) == status
        assert capsys.readouterr() == ("", sentence)  # before anything is computed
    assert read_only.read_text() == "old"
    assert pipe.is_fifo() == (sys.platform != "win32")


@pytest.mark.usefixtures("views")
def test_a_file_that_is_replaced_stays_as_private_as_it_was(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text("old")
    page.chmod(0o600)
    assert main(["render", "first", "-o", str(page)]) == 0
    assert (page.stat().st_mode & 0o777, page.read_text("utf-8")[:9]) == (0o600, "<!DOCTYPE")


def test_memory_and_recursion_end_in_a_sentence(
    views: dict[str, Picture], tmp_path: Path, capsys: Captured, subtests: pytest.Subtests
) -> None:
    for error, status, sentence in [
        (
            np._core._exceptions._ArrayMemoryError((10**6, 10**6), np.dtype(float)),
            1,
            "The memory of this machine does not hold it (Unable to allocate 7.28 TiB for an array "
            "with shape (1000000, 1000000) and data type float64). Take fewer neurons, features or "
            "cases.",
        ),
        (
            MemoryError(),
            1,
            "The memory of this machine does not hold it. Take fewer neurons, features or cases.",
        ),
        (RecursionError("maximum"), 2, "Something in the request is nested too deeply."),
    ]:
        with subtests.test(error=error, status=status, sentence=sentence):

            def fail(*_: object, error: Exception = error) -> None:
                raise error

            views["first"] = Picture(
                replace(views["first"].study, compute=fail), views["first"].draw
            )
            assert main(["render", "first", "-o", str(tmp_path / "a.html")]) == status
            assert capsys.readouterr().err.splitlines()[1:] == [sentence]


def test_a_nul_character_is_refused_in_a_sentence(
    capsys: Captured, subtests: pytest.Subtests
) -> None:
    for arguments in [
        ["render", "effect", "-o", "a\0.html"],
        ["render", "a\0.json", "-o", "a.html"],
        ["fisher", "-W", "w\0.npy", "-X", "x.npy"],
        ["figures", "a\0"],
        ["table", "--eps", "\0"],
    ]:
        with subtests.test(arguments=arguments):
            assert main(arguments) == 2
            (bad,) = (argument for argument in arguments if "\0" in argument)
            sentence = f"No name and no value holds a NUL character; got {bad!r}.\n"
            assert capsys.readouterr() == ("", sentence)


@pytest.mark.usefixtures("views")
def test_no_word_of_a_command_reaches_the_terminal_as_a_command_of_its_own(
    tmp_path: Path, capsys: Captured
) -> None:
    bell = str(tmp_path / "\x1b]0;title\x07.html")
    assert main(["render", "first", "-o", bell]) == 0
    assert main(["render", bell + ".json", "-o", "a.html"]) == 1
    assert main(["render", bell[:-5], "\x1b[2J", "-o", "a.html"]) == 2
    assert main(["render", bell[:-5], "-o", "a.html"]) == 2
    with pytest.raises(SystemExit):
        main(["table", "\x1b[2J"])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].endswith(r"error: unrecognized arguments: \x1b[2J")
    assert err.replace("\n", "").isprintable()
    with pytest.raises(SystemExit):
        main(["table", "x" * 5000])
    assert len(capsys.readouterr().err) < 1000


@pytest.mark.usefixtures("views")
def test_without_a_browser_png_is_one_sentence(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static, "find_browser", lambda: None)
    assert main(["render", "first", "-o", str(tmp_path / "a.png")]) == 1
    assert capsys.readouterr() == (
        "",
        "PNG, SVG, PDF and GIF are drawn by a browser, and none was found: install Chromium "
        "or Google Chrome, set BROWSER_PATH to the one you have, or choose HTML.\n",
    )


@pytest.mark.usefixtures("views")
def test_an_interruption_is_one_line_and_status_130(tmp_path: Path, capsys: Captured) -> None:
    assert main(["render", "first", "delta=2", "-o", str(tmp_path / "a.html")]) == 130
    assert capsys.readouterr().err.splitlines()[1:] == [
        "Interrupted. Every file that was written is whole."
    ]
    assert list(tmp_path.iterdir()) == []


# figures, pictures and the rest


@pytest.mark.usefixtures("views")
def test_figures_draws_every_view_into_a_new_folder(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "new" / "folder"
    assert main(["figures", str(folder), "seed=5", "--format", "html", "--format", "csv"]) == 0
    names = ["first.csv", "first.html", "second.csv", "second.html"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert read(folder / "second.csv") == {"delta": "3.0", "seed": "5"}
    assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines()] == [
        "[1/2] The first one",
        "[2/2] The second one",
    ]


def test_defect_is_not_told_as_if_the_request_were_wrong(
    views: dict[str, Picture], subtests: pytest.Subtests
) -> None:
    for defect in [ValueError, RuntimeError, ArithmeticError, TypeError]:
        with subtests.test(defect=defect):

            def fail(*_: object, defect: type[Exception] = defect) -> None:
                raise defect("a defect")

            views["first"] = replace(
                views["first"], study=replace(views["first"].study, compute=fail)
            )
            with pytest.raises(defect, match=r"^a defect$"):
                main(["render", "first", "-o", "never.html"])


def test_figures_leaves_out_what_there_is_not_and_says_why(
    views: dict[str, Picture], tmp_path: Path, capsys: Captured
) -> None:
    def refuse(settings: Settings, progress: Progress) -> None:
        raise Refusal("These settings have no picture.")

    for refused, status in (("second", 0), ("first", 2)):
        picture = views[refused]
        views[refused] = Picture(replace(picture.study, compute=refuse), picture.draw)
        assert main(["figures", str(tmp_path)]) == status
    assert [file.name for file in tmp_path.iterdir()] == ["first.html"]
    said = capsys.readouterr().err
    assert said.count("Left out: These settings have no picture.") == 2
    assert said.endswith("\nThese settings have no picture.\n")


@pytest.mark.usefixtures("views")
def test_figures_writes_html_unless_told_otherwise(tmp_path: Path) -> None:
    assert main(["figures", str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.html", "second.html"]


@pytest.mark.parametrize("command", ["pictures", "views"])
def test_pictures_lists_every_picture_and_every_rule(
    command: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert main([command]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 60
    listed = " ".join(out.split())
    for view in PICTURES.values():
        assert f"{view.name} {view.title}. Settings: {', '.join(view.uses)}." in listed
    for name, rule in RULES.items():
        assert f"{name} {rule.sentence} [" in listed


@pytest.mark.parametrize("view", [*PICTURES.values()][:10], ids=lambda view: view.name)
def test_a_view_renders_at_its_defaults(view: Picture, tmp_path: Path) -> None:
    """All of them are rendered where a browser opens them."""
    page, numbers = tmp_path / "a.html", tmp_path / "a.json"
    assert main(["render", view.name, "-o", str(page), "-o", str(numbers)]) == 0
    assert f"<title>{view.title}</title>" in page.read_text("utf-8")
    records: list[dict[str, Any]] = json.loads(numbers.read_text("utf-8"))
    assert records


def test_a_wrong_command_shows_its_usage(capsys: Captured, subtests: pytest.Subtests) -> None:
    for arguments in [[], ["draw"], ["render", "first"], ["table", "--rows", "x"]]:
        with subtests.test(arguments=arguments):
            with pytest.raises(SystemExit) as stopped:
                main(arguments)
            assert stopped.value.code == 2
            assert capsys.readouterr().err.startswith("usage: ")


def test_help_names_the_program_and_tells_of_every_command() -> None:
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, b"")
    words = " ".join(done.stdout.decode().split())
    assert words.startswith("usage: python -m normgeo ")
    assert "`python -m normgeo open` opens the explorer in a browser" in words
    for command in (
        "open",
        "table",
        "audit",
        "fisher",
        "layer",
        "render",
        "figures",
        "pictures (views)",
    ):
        assert f" {command} " in words


def helped(arguments: list[str], capsys: Captured) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 0
    return capsys.readouterr().out


def test_version_is_the_packages(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"normgeo {normgeo.__version__}\n"
