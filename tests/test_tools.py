"""`make run` and `make test` need an environment that matches the lock."""

import sys
from pathlib import Path

import pytest

from tools import kernels, venv


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A project folder with a lock, a working environment, and the packages installed into it."""
    (tmp_path / "requirements.lock").write_text("numpy==2.4.6")
    (tmp_path / ".venv").mkdir()
    installations: list[str] = []
    monkeypatch.setattr(venv, "ROOT", str(tmp_path))
    monkeypatch.setattr(venv, "works", lambda venv: True)
    monkeypatch.setattr(
        venv, "install", lambda lock, venv: installations.append(Path(lock).read_text())
    )
    return installations


def test_environment_is_installed_once(installed: list[str]) -> None:
    venv.main("requirements.lock")
    venv.main("requirements.lock")
    assert installed == ["numpy==2.4.6"]


def test_environment_follows_a_changed_lock(installed: list[str], tmp_path: Path) -> None:
    venv.main("requirements.lock")
    (tmp_path / "requirements.lock").write_text("numpy==2.5.0")
    venv.main("requirements.lock")
    assert installed == ["numpy==2.4.6", "numpy==2.5.0"]


def test_interrupted_installation_is_not_taken_for_done(
    installed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(lock: str, venv: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(venv, "install", interrupted)
        with pytest.raises(KeyboardInterrupt):
            venv.main("requirements.lock")
    venv.main("requirements.lock")
    assert installed == ["numpy==2.4.6"]


def test_old_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    with pytest.raises(SystemExit) as stopped:
        venv.main("requirements.lock")
    assert stopped.value.code == (
        "normgeo needs Python 3.11 or newer, and /usr/bin/python3 is 3.9: "
        "name a newer one, as in `make run PYTHON=python3.12`."
    )


def test_missing_venv_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(venv.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as stopped:
        venv.create(".venv")
    assert stopped.value.code == (
        "This Python cannot make virtual environments: install its venv module "
        "(Debian and Ubuntu call the package python3-venv) and try again."
    )


@pytest.mark.parametrize(
    ("folder", "terminal", "quiet"),
    [((), True, []), ((), False, ["--quiet"]), ((".venv-frameworks",), True, [])],
)
def test_each_step_is_told_and_pip_draws_its_bar_on_a_terminal(
    folder: tuple[str, ...],
    terminal: bool,
    quiet: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lock, commands = tmp_path / "requirements.lock", list[list[str]]()
    lock.write_text(
        "numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:0\n"
        "numpy==2.5.5 ; python_full_version >= '3.12' \\\n    --hash=sha256:0\n"
        "colorama==0.4.6 ; sys_platform == 'win32' \\\n"
    )
    monkeypatch.setattr(venv, "ROOT", str(tmp_path))
    monkeypatch.setattr(venv, "works", lambda venv: False)
    monkeypatch.setattr(venv.shutil, "which", lambda name: None)
    monkeypatch.setattr(venv.shutil, "copyfile", lambda lock, stamp: None)
    monkeypatch.setattr(sys, "executable", "python")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    for call in ("call", "check_call"):
        monkeypatch.setattr(venv.subprocess, call, lambda command: commands.append(command) or 0)
    venv.main("requirements.lock", *folder)
    name = folder[0] if folder else ".venv"
    assert capsys.readouterr().out == (
        f"Making the environment {name}.\n"
        f"Installing up to 2 packages of requirements.lock into {name}, once until it changes.\n"
    )
    python = venv.python_of(name)
    assert python.startswith(str(tmp_path / name))
    assert commands == [
        ["python", "-m", "venv", "--clear", str(tmp_path / name)],
        [
            *(python, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check"),
            *quiet,
            *("--no-deps", "--require-hashes", "-r", str(lock)),
        ],
    ]


def test_other_kernels_are_those_the_processor_runs_and_does_not_choose() -> None:
    assert kernels.others({"avx", "avx2"}, "Haswell") == ["Sandybridge", "Zen"]
    assert kernels.others({"avx", "avx2", "avx512f"}, "Sandybridge") == ["Zen", "Haswell"]
    assert kernels.others({"avx"}, "Sandybridge") == []
    assert kernels.others(set(), "") == []
