"""Install what a lock file pins into an environment: `python3 tools/venv.py requirements.lock`.

A second argument names its folder, `.venv` by default. It does nothing if all is installed. Python
3.6 can read this file, so that old versions can print a sentence.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys

OLDEST = (3, 11)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def python_of(venv: str) -> str:
    return os.path.join(ROOT, venv, "Scripts\\python.exe" if os.name == "nt" else "bin/python")


def works(venv: str) -> bool:
    """Whether the environment exists, is not too old and has pip (interrupted runs may not)."""
    python = python_of(venv)
    if not os.path.exists(python):
        return False
    probe = f"import sys, pip; sys.exit(sys.version_info < {OLDEST})"
    return subprocess.call([python, "-c", probe], stderr=subprocess.DEVNULL) == 0


def say(step: str) -> None:
    print(step, flush=True)


def create(venv: str) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        sys.exit(
            "This Python cannot make virtual environments: install its venv module "
            "(Debian and Ubuntu call the package python3-venv) and try again."
        )
    say(f"Making the environment {venv}.")
    subprocess.check_call([sys.executable, "-m", "venv", "--clear", os.path.join(ROOT, venv)])


def install(lock: str, venv: str) -> None:
    uv, name = shutil.which("uv"), os.path.basename(lock)
    if uv:
        command = [uv, "pip", "install", "--python", python_of(venv)]
    else:
        # Bytecode can wait for the first import: this takes half the time.
        command = [python_of(venv), "-m", "pip", "install", "--no-compile"]
        command.append("--disable-pip-version-check")
    # Both draw progress bars on a terminal; in a file their output is useless.
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    # A package has several versions if Pythons differ, and some packages are for other systems
    # only.
    most = len(set(re.findall(rb"^(\w[\w.-]*)==", read(lock), re.MULTILINE)))
    say(f"Installing up to {most} packages of {name} into {venv}, once until it changes.")
    # The lock is complete: no dependencies to resolve.
    if subprocess.call([*command, *quiet, "--no-deps", "--require-hashes", "-r", lock]) != 0:
        sys.exit(f"{name} could not be installed: the message above says why.")


def main(name: str, venv: str = ".venv") -> None:
    if sys.version_info < OLDEST:
        sys.exit(
            f"normgeo needs Python 3.11 or newer, and {sys.executable} is "
            f"{sys.version_info[0]}.{sys.version_info[1]}: name a newer one, as in "
            "`make run PYTHON=python3.12`."
        )
    lock, stamp = os.path.join(ROOT, name), os.path.join(ROOT, venv, name)
    usable = works(venv)
    if usable and os.path.exists(stamp) and read(stamp) == read(lock):
        return
    if not usable:
        create(venv)
    install(lock, venv)
    shutil.copyfile(lock, stamp)


if __name__ == "__main__":
    main(*sys.argv[1:])
