"""Tables say the same in every format, and the tables of verdicts say what `certify` says."""

import csv
import io
import json
import re
import shutil
import subprocess
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from normgeo import TRANSFORMS, certify
from normgeo.base.characters import SPELLED, width_of
from normgeo.base.text import printable
from normgeo.tables.formats import FORMATS, render
from normgeo.tables.printed import fragment
from normgeo.tables.table import Table
from normgeo.tables.verdicts import COLUMNS, ROWS, verdict_records, verdict_table

# Table 1 of the paper, as printed: columns 1 to 6, ✓ for "Invariant" and ✗ for "No".
TABLE_1 = {"batch norm": "✓✗✓✓✓✗", "weight norm": "✓✗✓✗✗✗", "layer norm": "✓✓✗✓✗✓"}

MIXED = Table(
    ("name", "count", "share", "known", "why"),
    (
        ("a & b_1 | {50%} $x$ #1 ~^\\<", 3, 0.125, True, ""),
        ('comma, "quote"\nline', np.int64(-12), np.float32(0.5), np.bool_(False), "—"),
        ("정규화 ×", 0, float("nan"), True, "σ = 0"),
        ("half", 1, Fraction(1, 2), True, ""),
        ("none", None, float("inf"), False, "overflow"),
    ),
    title="Of all kinds",
    groups=("", "numbers", "numbers", "", ""),
    notes=("A note.",),
)
PLAIN = [
    ["a & b_1 | {50%} $x$ #1 ~^\\<", 3, 0.125, True, ""],
    ['comma, "quote"\nline', -12, 0.5, False, "—"],
    ["정규화 ×", 0, None, True, "σ = 0"],
    ["half", 1, 0.5, True, ""],
    ["none", None, None, False, "overflow"],
]
HEADINGS = ["name", "numbers: count", "numbers: share", "known", "why"]


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_json_holds_the_records_with_null_for_what_is_undefined() -> None:
    assert json.loads(render(MIXED, "json")) == [
        dict(zip(HEADINGS, row, strict=True)) for row in PLAIN
    ]


def test_csv_follows_rfc_4180_and_reads_back() -> None:
    written = render(MIXED, "csv")
    assert written.count("\r\n") == len(PLAIN) + 1
    read = list(csv.reader(io.StringIO(written, newline="")))
    names = {None: "", True: "true", False: "false"}
    expected = [
        [names[cell] if cell is None or cell is True or cell is False else str(cell) for cell in r]
        for r in PLAIN
    ]
    assert read == [HEADINGS, *expected]


def markdown_cells(line: str) -> list[str]:
    assert line.startswith("| ")
    assert line.endswith(" |")
    cells = re.split(r"(?<!\\) ?\| ?", line)[1:-1]
    return [re.sub(r"\\([\\`*<|\[\]$])", r"\1", cell) for cell in cells]


def test_markdown_reads_back_though_cells_hold_its_marks() -> None:
    title, empty, head, marks, *body = render(MIXED, "markdown").splitlines()
    assert (title, empty, body[-2:]) == ("**Of all kinds**", "", ["", "A note."])
    assert markdown_cells(head) == HEADINGS
    assert markdown_cells(marks) == [":--", "--:", "--:", ":-:", ":--"]
    assert [markdown_cells(line) for line in body[:-2]] == [
        ["a & b_1 | {50%} $x$ #1 ~^\\<", "3", "0.125", "yes", ""],
        ['comma, "quote" line', "−12", "0.5", "no", "—"],
        ["정규화 ×", "0", "—", "yes", "σ = 0"],
        ["half", "1", "0.5", "yes", ""],
        ["none", "—", "—", "no", "overflow"],
    ]


def test_text_aligns_columns_though_characters_are_wide() -> None:
    title, _, groups, rules, head, *body, _, note = render(MIXED, "text").splitlines()
    assert (title, note) == ("Of all kinds", "A note.")
    right_of_share = width_of(head[: head.index("share") + len("share")])
    for line, share in zip(body, ("0.125", "0.5", "—", "0.5", "—"), strict=True):
        end = line.rindex(share) + len(share)
        assert width_of(line[:end]) == right_of_share
    assert groups.index("numbers") == rules.index("-")
    assert rules.strip() == "-" * width_of("count  share")


def test_text_wraps_headings_only_where_the_terminal_is_narrower(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table(("name", "a long heading"), (("x", "✓"),))
    assert render(table, "text") == "name  a long heading\nx           ✓\n"
    monkeypatch.setenv("COLUMNS", "18")
    assert render(table, "text") == "name     a\n       long\n      heading\nx        ✓\n"


def latex_body(source: str) -> list[str]:
    assert source.count("\\begin{tabular}") == source.count("\\end{tabular}") == 1
    return [line for line in source.splitlines() if line.endswith(r" \\")]


def test_latex_escapes_what_it_would_read_as_commands() -> None:
    groups, head, first, *_ = latex_body(render(MIXED, "latex"))
    assert first == (
        r"a \& b\_1 $|$ \{50\%\} \$x\$ \#1 \textasciitilde{}\textasciicircum{}"
        r"\textbackslash{}$<$ & 3 & 0.125 & yes &  \\"
    )
    assert r"\multicolumn{2}{c}{numbers}" in groups
    assert head == r"name & count & share & known & why \\"
    assert render(MIXED, "latex").isascii() is False  # negative control: the Korean name stays


def test_latex_of_the_verdicts_is_ascii_but_for_its_comments() -> None:
    source = render(verdict_table(ROWS["grid"], COLUMNS["all"], 1e-5, negative=True), "latex")
    code = [line for line in source.splitlines() if not line.startswith("%")]
    assert "\n".join(code).isascii()
    assert r"{l|ccccc|ccccc}" in source
    assert all(line.replace(r"\&", "").count("&") == 10 for line in latex_body(source)[1:])


def test_latex_wraps_sentences_and_nothing_else() -> None:
    table = Table(("", "statement", "n"), (("a", "A sentence of some length. " * 4, 1),))
    assert r"{lp{0.83\linewidth}r}" in render(table, "latex")


def test_latex_of_more_rows_than_a_page_holds_breaks_across_pages() -> None:
    def source(rows: int) -> str:
        groups = ("some numbers", "some numbers")
        return render(Table(("a", "b"), ((1, 2),) * rows, groups=groups), "latex")

    short, long = source(30), source(31)
    assert "longtable" not in short
    assert r"\usepackage{amssymb,longtable}" in long
    assert "tabular" not in long
    head = r"a & b \\" + "\n" + r"\hline" + "\n" + r"\endhead" + "\n" + r"1 & 2 \\"
    assert head in long
    assert long.index(r"\multicolumn") < long.index(r"\endhead")
    assert long.endswith("\\end{longtable}\n")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_latex_compiles(tmp_path: Path) -> None:
    # Every character that has a command, and the two that end of a row could swallow.
    odd = Table(("α", "[b]"), (("[x]", "*"), (" ".join(SPELLED), "*")), "50%")
    sentence = "A sentence of some length that wraps in a column of its own. "
    long = Table(("", "statement", "n"), (("✓", sentence * 2, 1),) * 67, notes=("Below.",))
    verdicts = verdict_table(ROWS["grid"], COLUMNS["all"], 1e-5)
    tables = (odd, verdicts, verdict_table(negative=True), long)
    document = "\n\n".join(
        (
            r"\documentclass{article}\usepackage{amssymb,longtable}\begin{document}",
            *(render(table, "latex") for table in tables),
            r"\end{document}",
        )
    )
    (tmp_path / "t.tex").write_text(document, "utf-8")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "t.log").read_text("latin-1")
    assert "Missing character" not in log
    assert "Overfull \\vbox" not in log  # nothing runs off the foot of a page


@pytest.mark.parametrize("format", FORMATS)
def test_a_table_without_rows_is_written(format: str) -> None:
    assert render(Table(("a", "b"), ()), format).endswith("\n")


def test_characters_that_an_encoding_lacks_are_words_in_every_format() -> None:
    table = Table(("δ × ε", "size"), (("✓ 정", 3.5e-16),))
    assert render(table, "text", "utf-8") == render(table, "text")
    assert (
        render(table, "text", "latin-1") == "delta × eps          size\nyes ?        3.5 · 10^-16\n"
    )
    for format in FORMATS:
        assert render(table, format, "ascii").isascii()
    assert "yes ?        3.5 * 10^-16" in render(table, "text", "ascii")
    assert r"3.5 $\cdot$ 10$^{-16}$" in render(table, "latex")


def test_bad_tables_are_refused_in_a_sentence(subtests: pytest.Subtests) -> None:
    for make, sentence in [
        (
            lambda: Table(("a", "b"), ((1, 2), (3,))),
            "A table with 2 columns needs as many values in each row; row 1 has 1.",
        ),
        (
            lambda: Table(("a", "b"), (), groups=("x",)),
            "A table with 2 columns needs as many values in each row; `groups` has 1.",
        ),
        (
            lambda: Table(("a", "a"), (), groups=("x", "x")),
            "The columns of a table must differ; got x: a, x: a.",
        ),
        (
            lambda: render(MIXED, "html"),
            "`format` must be one of text, markdown, latex, csv, json; got 'html'.",
        ),
    ]:
        with subtests.test(sentence):
            assert callable(make)
            with pytest.raises(ValueError, match="^" + re.escape(sentence) + "$"):
                make()


# The tables of verdicts.


def test_table_1_is_the_papers() -> None:
    table = verdict_table()
    assert {row[0]: "".join(row[1:]) for row in table.rows} == TABLE_1
    assert table.title == "What leaves z = (a − μ)/σ unchanged, at ε = 0"
    assert table.notes[0] == "✓ invariant · ✗ not invariant"
    assert table.headings[1:] == (
        "change W: all ×",
        "change W: all +",
        "change W: one ×",
        "change X: all ×",
        "change X: all +",
        "change X: one ×",
    )


def test_with_eps_rescalings_hold_only_without_it() -> None:
    table = verdict_table(eps=1e-5)
    assert {row[0]: "".join(row[1:]) for row in table.rows} == {
        "batch norm": "≈✗≈≈✓✗",
        "weight norm": "✓✗✓✗✗✗",
        "layer norm": "≈✓✗≈✗≈",
    }
    assert table.title == "What leaves z = (a − μ)/σ unchanged, at ε = 1 · 10⁻⁵"
    assert table.notes[0] == "✓ invariant · ≈ invariant only at ε = 0 · ✗ not invariant"


def test_negative_factors_flip_signs_where_positive_ones_change_nothing() -> None:
    table = verdict_table(negative=True)
    assert {row[0]: "".join(row[1:]) for row in table.rows} == {
        "batch norm": "±✗±±✓✗",
        "weight norm": "±✗±✗✗✗",
        "layer norm": "±✓✗±✗±",
    }
    assert "δ < 0" in table.notes[1]


@pytest.mark.parametrize("rows", ROWS)
def test_text_of_the_verdicts_fits_a_terminal(rows: str) -> None:
    lines = render(verdict_table(ROWS[rows], COLUMNS["all"]), "text").splitlines()
    assert max(map(width_of, lines)) <= 80


def test_records_of_the_design_space_hold_every_verdict() -> None:
    table = verdict_records(ROWS["grid"], COLUMNS["all"], 1e-5)
    of_csv = [*csv.DictReader(io.StringIO(render(table, "csv"), newline=""))]
    of_json = json.loads(render(table, "json"))
    assert len(of_csv) == len(of_json) == 160
    words = {"true": True, "false": False, "": None, True: True, False: False, None: None}
    certified = cache(certify)
    for record in of_csv + of_json:
        normalizer = ROWS["grid"][record["normalizer"]]
        assert (record["center"], record["scale"]) == normalizer.words
        verdict = certified(normalizer, TRANSFORMS[record["transform"]], eps=1e-5)
        assert record["verdict"] == verdict.word
        assert words[record["invariant"]] is verdict.invariant
        assert words[record["sign_flip"]] is verdict.sign_flip
        assert words[record["only_without_eps"]] is verdict.only_without_eps
        assert float(record["error_bound"]) == verdict.error_bound
        assert int(record["degree"]) == verdict.degree
        assert int(record["seed"]) == verdict.seed == 0
        assert tuple(int(record[letter]) for letter in "NHD") == verdict.shape
        assert float(record["eps"]) == 1e-5


HOSTILE = (
    "\x1b[2J",
    "\a",
    "\u202egnp",
    "\x9b2J",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-a",
    "−a",
    "@SUM(A1)",
    "＝1+1",
)


@pytest.mark.parametrize("format", FORMATS)
def test_names_from_outside_command_no_terminal_and_no_spreadsheet(format: str) -> None:
    """As headings, words and notes; a program that reads JSON gets them as they are."""
    rows = tuple((name, 1.5) for name in HOSTILE)
    table = Table(("=x\x1b", "n"), rows, "t\a", notes=("n\u202e",))
    written = render(table, format)
    assert [c for c in written if not c.isprintable() and c not in "\r\n"] == []
    if format == "json":
        assert [tuple(row.values()) for row in json.loads(written)] == [*rows]
    if format == "csv":
        head, *read = csv.reader(io.StringIO(written, newline=""))
        assert head == ["'=x\\x1b", "n"]
        quoted = ["'" + name if name[0] in "=+-−@＝" else printable(name) for name in HOSTILE]
        assert read == [[name, "1.5"] for name in quoted]


def test_numbers_that_are_words_are_not_quoted_for_spreadsheets() -> None:
    assert render(Table(("a",), (("-1.5",), ("+3e8",), (-2,), ("-",))), "csv") == (
        "a\r\n-1.5\r\n+3e8\r\n-2\r\n'-\r\n"
    )


def test_table_is_a_data_frame_and_a_piece_of_html() -> None:
    table = Table(("name", "value"), (("<a>", 0.25), ("b", float("nan"))), "T", notes=("<n>",))
    frame = table.to_frame()
    assert frame.columns.tolist() == ["name", "value"]
    assert frame["value"].isna().tolist() == [False, True]
    assert Table(("name",), ()).to_frame().columns.tolist() == ["name"]
    piece = fragment(table)
    assert piece.startswith("<table>")
    assert "<a>" not in piece
    assert "<td>&lt;a&gt;</td><td>0.25</td>" in piece
    assert "<p>&lt;n&gt;</p>" in piece
