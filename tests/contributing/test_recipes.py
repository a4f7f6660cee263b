"""Each recipe of CONTRIBUTING works as it is written, on a copy of the source.

What the guide tells a reader to write is written there, where it says so, each recipe alone; then
all of them, and a new process prints the design space, runs the audit, draws every figure and
opens every page with all that is new.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "CONTRIBUTING.md"
TESTS = ("tests/claims", "tests/at_once.py", "tests/conftest.py", "tests/pairwise.py")
COPIED = ("normgeo", "pages", "app.py", ".streamlit", "tools", *TESTS)

STEP = re.compile(
    r"^(?P<where>[^\n`]*`(?P<file>[\w./]+)`(?:, (?P<place>after|before)(?: the line)?\s+"
    r"`(?P<line>[^`\n]+)`)?[^\n`]*):\n\n```\w*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Step(NamedTuple):
    """What to write, and where."""

    file: str
    place: str | None
    line: str | None
    text: str


def recipes() -> dict[str, list[Step]]:
    """The steps under each heading that adds something."""
    sections = re.split(r"^## ", GUIDE.read_text("utf-8"), flags=re.MULTILINE)
    found = {}
    for section in sections:
        title, _, body = section.partition("\n")
        if title.startswith("Add "):
            found[title] = [
                Step(m["file"], m["place"], m["line"], m["text"]) for m in STEP.finditer(body)
            ]
    return found


def carry_out(step: Step, root: Path) -> None:
    """Write what a step says into a copy of the source."""
    file = root / step.file
    if step.line is None:
        assert not file.exists(), f"{step.file} is there already: the guide must say where in it."
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(step.text, "utf-8")
        return
    lines = file.read_text("utf-8").splitlines(keepends=True)
    (place,) = [i for i, line in enumerate(lines) if line.strip() == step.line.strip()]
    at = place + (step.place == "after")
    file.write_text("".join([*lines[:at], step.text, *lines[at:]]), "utf-8")


# What selects all that is new, as the family takes no real targets; then its words in menus.
SELECTED: Sequence[dict[str, str]] = (
    {
        "center": "double",
        "scale": "total",
        "cell": "double-total.case_rescaling",
        "tab": "own",
        "dataset": "friedman",
        "optimizer": "sign_descent",
        "steps": "20",
    },
    {"family": "trials", "dataset": "iris", "draws": "25", "tab": "how_far"},
)
# Trainings that show nothing new need not be long.
SHORT = {"epochs": "1", "task": "rows", "rnn": "tanh", "sequences": "4"}
TITLES = {
    "Add a normalizer": "centered-weight RMS norm",
    "Add a scale": "cases, summed (total)",
    "Add a center": "cases and neurons (double)",
    "Add a family": "twelve-trial binomial",
    "Add an optimizer": "signed gradient descent",
    "Add a data set": "Friedman",
    "Add a tab": "In a number",
    "Add a setting": "batches drawn",
}

# In one process: what the commands print, and what the menus of the pages offer.
TRY = """
import contextlib, functools, io, itertools, json, sys
from pathlib import Path
from unittest.mock import patch
import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

# Here as well, as another process would begin by importing everything.
with contextlib.redirect_stdout(sys.stderr):
    assert pytest.main(["-q", "-p", "no:cacheprovider", "tests/claims", "-k", "shrinks"]) == 0

import normgeo.claims
from normgeo.claims import CLAIMS, audit, depth, recurrence, trained

# These name their methods and data, so that nothing new is in them.
old = {one.key for kind in (depth, recurrence, trained) for one in kind.CLAIMS}
old |= {one.key for one in trained.SMALL}
claims = [claim for key, claim in CLAIMS.items() if key not in old]
audited = functools.cache(lambda: tuple(audit(claims=claims)))
normgeo.claims.audit = lambda *given: audited()  # once, for the command and the page
from normgeo.__main__ import main
from normgeo.pictures import PICTURES
from normgeo.ui.ahead import OPENED
from normgeo.ui.computing.server import SERVER, Server
from tests.at_once import AtOnce

normgeo.claims.EXAMPLES = normgeo.claims.EXAMPLES[1:2]  # a small one: what is new is in all
# Workers would begin with all examples: what they compute is computed here, and comes from there.
server = Server(AtOnce(), longest=-1.0)
queries, folder = json.loads(sys.argv[1]), sys.argv[2]
def shows_new(picture, query):
    # Each picture is of the new data, with all else that is new, or of the new family.
    uses = {*picture.uses}
    if not uses & {"dataset", "cell"}:
        return False
    of_data = "family" not in uses or bool(uses & {"cell", "optimizer"})
    return of_data if query is queries[0] else "family" not in uses or not of_data
printed = {}
def run(name, *command):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert main([name, *command]) == 0, command
    printed[name] = output.getvalue()
run("table", "--all")
run("audit")
for query in queries:
    settings = [f"{key}={value}" for key, value in query.items() if key != "tab"]
    with patch.dict(PICTURES):
        for name in [name for name, one in PICTURES.items() if not shows_new(one, query)]:
            del PICTURES[name]
        run("figures", f"{folder}/{query['dataset']}", *settings)
# Each session would read what every installed package says of itself.
manifest_scanner.scan_component_manifests = functools.cache(
    manifest_scanner.scan_component_manifests
)
titles = set()
for query, page in itertools.product(queries, sorted(Path("pages").glob("*.py"))):
    app = AppTest.from_file("app.py", default_timeout=600)
    app.session_state["settings"] = True
    app.session_state[SERVER] = server
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page(str(page)).run()
    assert not app.exception, (page, [e.message for e in app.exception])
    warnings = [w.value for w in app.warning if "`tab`" not in w.value]  # a tab of another page
    assert not warnings, (page, warnings)
    assert not app.error, (page, [e.value for e in app.error])
    titles |= {option for box in app.selectbox for option in box.options}
    titles |= {one.label for one in (*app.tabs, *app.number_input)}
print(json.dumps({**printed, "titles": sorted(titles), "ahead": [*OPENED]}))
"""


def copied(root: Path, titles: Iterable[str]) -> Path:
    """A copy of the source in which recipes were carried out."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name)  # compiled modules as well
        else:
            shutil.copy(source, root / name)
    for title in titles:
        for step in recipes()[title]:
            carry_out(step, root)
    return root


def run(root: Path, *command: str) -> str:
    """What a new process prints, in the copy; it must end well and log no defect."""
    done = subprocess.run(
        [sys.executable, *command], cwd=root, capture_output=True, text=True, check=False
    )
    said = f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert done.returncode == 0, said
    assert "Traceback" not in done.stderr, said
    return done.stdout


def test_guide_has_these_recipes() -> None:
    assert set(recipes()) == {*TITLES, "Add a claim", "Add a page"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("title", recipes())
def test_recipe_needs_no_other(title: str, tmp_path: Path) -> None:
    root = copied(tmp_path, [title])
    config = ("--config", str(ROOT / "pyproject.toml"))
    assert recipes()[title]
    run(root, "-m", "ruff", "check", *config, ".")
    run(root, "-m", "ruff", "format", *config, "--check", ".")
    run(root, "-c", "import normgeo.claims, normgeo.pictures, normgeo.ui.frame")


def test_recipes_reach_tables_audit_figures_and_pages(tmp_path: Path) -> None:
    root = copied(tmp_path / "copy", recipes())
    said = json.loads(
        run(root, "-c", TRY, json.dumps([one | SHORT for one in SELECTED]), str(tmp_path))
    )
    assert set(TITLES.values()) <= set(said["titles"])
    assert "(double, total)" in said["table"]
    claim = "Layer norm changes nothing in what it has normalized."
    assert claim in " ".join(said["audit"].split())
    drawn = [
        {file.stem for file in (tmp_path / name).glob("*.html")} for name in ("friedman", "iris")
    ]
    assert "spread" in drawn[1]
    assert "spread" in said["ahead"]
    assert "training" in drawn[1] - drawn[0], "its network is taught classes"
    assert len(drawn[0] | drawn[1]) > 20
