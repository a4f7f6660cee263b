"""Requirements, locks, version and configuration agree with each other."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from streamlit.config import get_config_options

import normgeo

ROOT = Path(__file__).parents[1]
LOCKS = {
    "requirements.txt": "requirements.lock",
    "requirements-dev.in": "requirements-dev.lock",
    "requirements-dask.in": "requirements-dev.lock",
    "requirements-frameworks.in": "requirements-frameworks.lock",
    "requirements-experiments.in": "requirements-frameworks.lock",
}


def requirements(name: str) -> list[Requirement]:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    wanted = (line.removesuffix(" \\") for line in lines)
    return [Requirement(line) for line in wanted if re.match(r"[a-z0-9]", line)]


def test_lock_pins_what_the_requirements_allow(subtests: pytest.Subtests) -> None:
    for source, lock in LOCKS.items():
        with subtests.test(source=source, lock=lock):
            pins = requirements(lock)
            for wanted in requirements(source):
                # One for each range of Python versions, and one for each type of machine.
                fitting = [
                    pin
                    for pin in pins
                    if pin.name == wanted.name and wanted.marker in {None, pin.marker}
                ]
                exact = [next(iter(pin.specifier)) for pin in fitting]
                assert exact, wanted
                assert {pin.operator for pin in exact} == {"=="}
                assert all(wanted.specifier.contains(pin.version) for pin in exact)


def test_tests_run_on_the_versions_of_the_application() -> None:
    assert set(requirements("requirements.lock")) <= set(requirements("requirements-dev.lock"))


def test_requirements_name_no_host(subtests: pytest.Subtests) -> None:
    for name in [*LOCKS, *LOCKS.values()]:
        with subtests.test(name=name):
            assert not re.search(r"://|index-url|find-links", (ROOT / name).read_text("utf-8"))


def test_every_pin_has_a_hash(subtests: pytest.Subtests) -> None:
    for lock in LOCKS.values():
        with subtests.test(lock=lock):
            entries = re.split(r"\n(?=[a-z0-9])", (ROOT / lock).read_text("utf-8"))
            assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


# Modules with another name than their library, and modules that a required library brings.
PROVIDERS = {
    "sklearn": "scikit-learn",
    "pytorch_lightning": "pytorch-lightning",
    "markdown_it": "markdown-it-py",
    "PIL": "pillow",
}


def test_every_imported_library_is_required() -> None:
    """A library that another one brings may be missing later."""
    files = [ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("normgeo/**/*.py")]
    imported = {
        name.partition(".")[0]
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    foreign = imported - sys.stdlib_module_names - {"normgeo"}
    assert {"numpy", "streamlit"} <= foreign
    required = {
        wanted.name
        for name in ("requirements.txt", "requirements-dask.in", "requirements-frameworks.in")
        for wanted in requirements(name)
    }
    assert {PROVIDERS.get(name, name) for name in foreign} - required == set()


def test_citation_has_the_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {normgeo.__version__}\n" in citation


def test_streamlit_knows_every_option(tmp_path: Path) -> None:
    config = ROOT / ".streamlit" / "config.toml"
    done = subprocess.run(
        [sys.executable, "-m", "streamlit", "config", "show"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    said = done.stdout + done.stderr
    assert "not a valid config option" not in said
    for section, options in tomllib.loads(config.read_text("utf-8")).items():
        assert f"[{section}]" in said
        for option, value in options.items():
            assert isinstance(value, dict) or f"{section}.{option}" in get_config_options(), option
