"""The built wheel, in an environment of its own: `normgeo open` serves the explorer anywhere."""

import os
import re
import socket
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from normgeo.ui.teaching import tours
from tools.server import answering

ROOT = Path(__file__).parents[2]
INSTALLED = ("app.py", "pages", "normgeo", ".streamlit/config.toml")
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


@dataclass(frozen=True)
class Installation:
    """An environment that holds the wheel, and a folder that holds nothing."""

    wheel: Path
    scripts: Path
    elsewhere: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.scripts / words[0]), *words[1:]],
            cwd=self.elsewhere,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def environment(self) -> dict[str, str]:
        """The variables of the test, without those that lead back to the checkout."""
        return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def tracked() -> list[str]:
    """The files of the project, new ones included, what is built or ignored left out."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [name for name in found.split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Build the wheel from a copy of the source and install it; nothing is downloaded."""
    folder = tmp_path_factory.mktemp("installed")
    for name in tracked():
        target = folder / "source" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder)]
    subprocess.run([*PIP, *build, str(folder / "source")], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    environment = folder / "environment"
    venv.create(environment, with_pip=False)
    scheme = {"base": str(environment), "platbase": str(environment)}
    paths = sysconfig.get_paths("venv", vars=scheme)
    python = Path(paths["scripts"]) / Path(sys.executable).name
    install = ["--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*PIP, *install], check=True, capture_output=True)
    # What the wheel depends on is that of the tests.
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    Path(paths["purelib"], "dependencies.pth").write_text("\n".join(dependencies), "utf-8")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    return Installation(wheel, Path(paths["scripts"]), elsewhere)


@pytest.fixture
def explorer(command: str, installation: Installation, pages: Any, tmp_path: Path) -> Iterator[str]:
    """The URL of what a command serves, which nobody has asked anything yet."""
    program, *words = command.split()
    words = [str(installation.scripts / program), *words, "--no-browser"]
    log, environment = tmp_path / "log.txt", installation.environment()
    with answering(words, "--port=", installation.elsewhere, log, env=environment) as url:
        yield url
        # A page that outlives its server complains that it is gone.
        pages.close()
    assert "Traceback (most recent call last)" not in log.read_text("utf-8")


def test_wheel_holds_every_file_of_the_application_and_no_other(
    installation: Installation,
) -> None:
    found = set(ZipFile(installation.wheel).namelist())
    expected = {
        name if name.startswith("normgeo/") else f"normgeo/explorer/{name}"
        for name in tracked()
        if name.startswith(tuple(f"{part}/" for part in INSTALLED)) or name in INSTALLED
    }
    assert {name for name in found if ".dist-info/" not in name} == expected


def test_wheel_holds_what_pages_read_beside_their_modules(installation: Installation) -> None:
    found = set(ZipFile(installation.wheel).namelist())
    read = {file.relative_to(ROOT) for file in (ROOT / "normgeo").rglob("*") if file.is_file()}
    read = {file for file in read if file.suffix not in {".py", ".pyc"}}
    kinds = {".css", ".js", ".json", ".md"}
    assert {file.suffix for file in read} >= kinds
    assert {f"normgeo/ui/teaching/tours/{name}.md" for name in tours.names()} <= found
    assert {file.as_posix() for file in read} - found == set()


def test_help_tells_of_the_explorer(installation: Installation) -> None:
    done = installation.run("normgeo", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: normgeo ")
    assert "`normgeo open` opens the explorer" in " ".join(done.stdout.split())


def test_installed_package_is_not_the_checkout(installation: Installation) -> None:
    done = installation.run("python", "-c", "import normgeo; print(normgeo.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(installation.scripts.parent), done


def answers_others(url: str) -> bool:
    """Whether a server answers at more than the one address that only this machine has."""
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex(("127.0.0.2", urlsplit(url).port)) == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("command", "path", "question"),
    [
        ("normgeo open", "/learning_rate", r"\?$"),
        ("python -m normgeo open", "/", r"Drag the contrast of one picture"),
    ],
)
def test_first_request_to_an_installed_explorer_is_any_page(
    explorer: str,
    open_page: Callable[..., Page],
    wait_settled: Callable[[Page], None],
    path: str,
    question: str,
) -> None:
    assert not answers_others(explorer)
    page = open_page(scheme="dark")
    page.goto(explorer + path)
    # A new server imports its libraries first, and may calm down before it starts over.
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(question))
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    wait_settled(page)
    expect(page.get_by_role("link", name="Learning rate", exact=True)).to_be_visible()
    # The project's own settings: Streamlit's dark ground is another one.
    ground = "document.querySelector('[data-testid=stApp]')"
    assert page.evaluate(f"getComputedStyle({ground}).backgroundColor") == "rgb(21, 24, 27)"
