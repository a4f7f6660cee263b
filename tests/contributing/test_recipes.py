"""Each recipe of CONTRIBUTING works as it is written, on a copy of the source.

What the guide tells a reader to write is written there, where it says so; then a new process
prints the design space, runs the audit, draws every figure and opens every page with it.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "CONTRIBUTING.md"
COPIED = ("normgeo", "pages", "app.py", ".streamlit", "tests/claims", "tests/conftest.py", "tools")

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


# What selects the new thing: settings of a link, and what a menu calls it.
SELECTED: Mapping[str, tuple[Mapping[str, str], str]] = {
    "Add a normalizer": ({"method": "centered_rms"}, "centered-weight RMS norm"),
    "Add a scale": (
        {"center": "batch", "scale": "total", "cell": "batch-total.case_rescaling", "tab": "own"},
        "cases, summed (total)",
    ),
    "Add a center": (
        {"center": "double", "scale": "layer", "cell": "double-layer.case_rescaling", "tab": "own"},
        "cases and neurons (double)",
    ),
    "Add a family": ({"family": "trials"}, "twelve-trial binomial"),
    "Add an optimizer": (
        {"optimizer": "sign_descent", "steps": "20", "tab": "equilibrium"},
        "signed gradient descent",
    ),
    "Add a data set": ({"dataset": "friedman"}, "Friedman"),
    "Add a claim": ({}, ""),
    "Add a page": ({}, ""),
}
SMALL = {"dataset": "iris"}  # wherever another data set is not what is new

# In one process: what the commands print, and what the menus of the pages offer.
TRY = """
import contextlib, functools, io, json, pickle, sys
from pathlib import Path
import cloudpickle
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
import normgeo.claims
from normgeo.__main__ import main
from normgeo.ui import results

normgeo.claims.EXAMPLES = normgeo.claims.EXAMPLES[1:2]  # a small one: what is new is in all
# Workers would begin with all examples: what they compute is computed here, and comes from there.
results.LONGEST, found = float("inf"), results.Found
results.Found = lambda result, stopped: found(pickle.loads(cloudpickle.dumps(result)), stopped)
query, folder = json.loads(sys.argv[1]), sys.argv[2]
settings = [f"{key}={value}" for key, value in query.items() if key != "tab"]
printed = {}
for command in (["table", "--all"], ["audit"], ["figures", folder, *settings]):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert main(command) == 0, command
    printed[command[0]] = output.getvalue()
# Each session would read what every installed package says of itself.
manifest_scanner.scan_component_manifests = functools.cache(
    manifest_scanner.scan_component_manifests
)
titles = set()
for page in sorted(Path("pages").glob("*.py")):
    app = AppTest.from_file("app.py", default_timeout=120)
    app.session_state["_settings_open"] = True
    for name, value in query.items():
        app.query_params[name] = value
    app.switch_page(str(page)).run()
    assert not app.exception, (page, [e.message for e in app.exception])
    warnings = [w.value for w in app.warning if "`tab`" not in w.value]  # a tab of another page
    assert not warnings, (page, warnings)
    titles |= {option for box in app.selectbox for option in box.options}
print(json.dumps({**printed, "titles": sorted(titles)}))
"""


@pytest.fixture(scope="module")
def copied(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source in which one recipe was carried out."""
    root = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name)  # compiled modules as well
        else:
            shutil.copy(source, root / name)
    for step in recipes()[request.param]:
        carry_out(step, root)
    return root


def run(root: Path, *command: str) -> str:
    """What a new process prints, in the copy; it must end well and without a traceback."""
    done = subprocess.run(
        [sys.executable, *command], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def test_every_recipe_is_tried_and_has_steps() -> None:
    assert set(recipes()) == set(SELECTED)
    assert all(recipes().values())


@pytest.mark.parametrize("copied", SELECTED, indirect=True)
def test_recipe_reaches_tables_audit_figures_and_pages(
    copied: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    title = request.node.callspec.params["copied"]
    settings, name = SELECTED[title]
    query = {**SMALL, **settings}
    run(copied, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), ".")
    run(copied, "-m", "ruff", "format", "--config", str(ROOT / "pyproject.toml"), "--check", ".")
    said = json.loads(run(copied, "-c", TRY, json.dumps(query), str(tmp_path)))
    table, report, titles = said["table"], said["audit"], said["titles"]
    assert not name or name in titles
    if title in ("Add a scale", "Add a center"):
        assert f"({settings['center']}, {settings['scale']})" in table
    if title == "Add a page":
        assert (tmp_path / "spread.html").is_file()
    if title == "Add a claim":
        assert "Layer norm changes nothing in what it has normalized." in " ".join(report.split())
        run(copied, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/claims", "-k", "twice")
