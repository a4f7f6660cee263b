"""Try the pages with the oldest and the newest versions that requirements.txt allows.

`python -m tools.versions` makes an environment for each in a temporary folder, and runs tests that
would notice a different interface: all pages, the tabs of one, a slider in Chromium, a figure as a
file.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
REQUIRED, TOOLS = ROOT / "requirements.txt", ROOT / "requirements-dev.in"
TESTS = (
    "tests/pages/test_frame.py::test_page_opens_with_one_question_as_its_heading",
    "tests/pages/test_fisher.py::test_every_tab_has_its_picture",
    "tests/browser/test_frames.py"
    "::test_rest_of_a_slider_is_told_once_and_nothing_is_drawn_or_sent_again",
    "tests/browser/test_export_files.py::test_exported_words_are_as_wide_as_on_the_page",
)
NEEDED = re.compile(r"pytest|hypothesis|playwright|axe")  # tools that TESTS use
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def lines(file: Path) -> list[str]:
    """The requirements listed in a file."""
    return [line for line in file.read_text("utf-8").splitlines() if re.match(r"\w", line)]


def oldest() -> str:
    """The lower bounds of the requirements, as constraints."""
    return "".join(re.sub(r">=([\d.]+).*", r"==\1", line) + "\n" for line in lines(REQUIRED))


def downloads(folder: Path) -> bool:
    """Whether packages can be downloaded here."""
    (smallest,) = (line for line in lines(REQUIRED) if line.startswith("segno"))
    quiet = ("--quiet", "--no-deps", "--no-cache-dir")
    command = [*PIP, "download", *quiet, "--dest", str(folder), smallest]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def python_of(environment: Path) -> str:
    """The path of an environment's interpreter."""
    return str(environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


def install(environment: Path, constraints: Path) -> subprocess.Popen[bytes]:
    """Start to install the requirements and the tools of the tests into a new environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    tools = [line for line in lines(TOOLS) if NEEDED.match(line)]
    into = [*PIP, "--python", python_of(environment), "install", "--quiet"]
    return subprocess.Popen([*into, "-r", str(REQUIRED), "-c", str(constraints), *tools])


def main() -> None:
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if not downloads(folder):
            print("Packages cannot be downloaded here: other versions were not tried.")
            return
        begun = {}
        for which, bounds in (("oldest", oldest()), ("newest", "")):
            constraints = folder / f"{which}.txt"
            constraints.write_text(bounds, "utf-8")
            begun[which] = install(folder / which, constraints)
        failed = []
        for which, pip in begun.items():
            if pip.wait() != 0:
                print(f"The {which} versions cannot be installed here: they were not tried.")
                continue
            print(f"The {which} versions:", flush=True)
            pytest = [python_of(folder / which), "-m", "pytest", "-n", "2"]
            words = ["--dist", "worksteal", "-p", "no:cacheprovider", *TESTS]
            if subprocess.run([*pytest, *words], cwd=ROOT, check=False).returncode != 0:
                failed.append(which)
    if failed:
        sys.exit(f"It does not work with the {' and '.join(failed)} versions of {REQUIRED.name}.")


if __name__ == "__main__":
    main()
