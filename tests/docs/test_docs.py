"""The documentation is built without a warning, and what it names exists."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import normgeo

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, built as `make docs` builds them, which runs the notebook as well."""
    target = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(target / "doctrees"), str(DOCS), str(target / "html")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target / "html"


@pytest.mark.exhaustive
def test_every_public_name_has_its_entry(built: Path) -> None:
    pages = "".join(page.read_text("utf-8") for page in (built / "api").glob("*.html"))
    described = set(re.findall(r'<dt class="sig[^>]* id="normgeo\.[\w.]*?(\w+)"', pages))
    assert set(normgeo.__all__) <= described


@pytest.mark.exhaustive
def test_notebook_ran_and_its_picture_is_there(built: Path) -> None:
    page = (built / "from_table_1_to_angular_update.html").read_text("utf-8")
    assert "norm × 4: gradient × 0.2500, tan θ × 0.0625" in page
    assert "Plotly.newPlot" in page


@pytest.mark.exhaustive
def test_story_and_gallery_stand_beside_the_pages(built: Path) -> None:
    for name in ("story-en", "story-ko", "story-zh", "gallery"):
        assert f'href="{name}.html"' in (built / "index.html").read_text("utf-8")
        assert (built / f"{name}.html").read_text("utf-8").count("<figure ") >= 8
    assert (built / "gallery.html").read_text("utf-8").count("&lt;iframe ") > 30


def test_every_formula_names_a_test_that_exists() -> None:
    tests = {
        node.name
        for file in ROOT.glob("tests/**/*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    page = (DOCS / "mathematics.md").read_text("utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    assert named - tests == set()
    sections = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    unheld = [s.partition("\n")[0] for s in sections if "`test_" not in s]
    assert unheld == ["12. Where the paper is not exact"]


def test_every_file_that_a_page_names_exists(subtests: pytest.Subtests) -> None:
    for page in sorted(DOCS.glob("*.md")):
        with subtests.test(page=page):
            words = page.read_text("utf-8")
            named = re.findall(r"`((?:normgeo|tests|pages|docs|tools|benchmarks)/[\w./]*)`", words)
            assert [name for name in named if not (ROOT / name).exists()] == []
