"""What only a process shows: closed and full streams, interruptions while it imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = "import sys\nfrom normgeo.__main__ import main\nsys.exit(main())\n"
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
ENVIRONMENT.pop("PYTHONUNBUFFERED", None)  # what is left to write makes the trouble

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")


def started(command: str) -> subprocess.Popen[bytes]:
    """Start a command of the shell, in which `normgeo` is the program."""
    return subprocess.Popen(
        ["bash", "-c", command.replace("normgeo", f"exec {sys.executable} -m normgeo")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )


STREAMS = {
    "normgeo table >&-": (1, "standard output: Bad file descriptor.\n"),
    "normgeo table >/dev/full": (1, "No space left on device.\n"),
    "normgeo table --rows x >&- 2>&-": (2, ""),
}


def test_a_closed_or_full_stream_is_one_sentence_or_none() -> None:
    running = {command: started(command) for command in STREAMS}
    for command, process in running.items():
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err.decode(), out) == (*STREAMS[command], b""), command


FULL = {  # each by the file that it cannot write
    "normgeo render turn dataset=iris -o {folder}/a.html": "a.html",
    "normgeo layer --example batch -o {folder}/b.html": "b.html",
    "normgeo training --example -o {folder}/c.json": "c.json",
    "normgeo figures {folder} dataset=iris --format html": "contrast.html",
}


@pytest.mark.exhaustive
def test_a_full_disk_leaves_the_files_that_there_were(tmp_path: Path) -> None:
    """A limit on the size of a file ends a write as a full disk does, also of compiled modules."""
    for name in FULL.values():
        (tmp_path / name).write_text("before")
    lines = (command.format(folder=tmp_path) for command in FULL)
    limit = "export PYTHONDONTWRITEBYTECODE=1; ulimit -f 2; "  # or they stay cut for all who follow
    running = [started(limit + line) for line in lines]
    for process, name in zip(running, FULL.values(), strict=True):
        _, err = process.communicate(timeout=120)
        assert process.returncode == 1
        assert err.decode().splitlines()[-1] == f"{tmp_path / name}: File too large."
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        FULL.values(), "before"
    )


def test_help_for_a_reader_that_left_is_no_complaint() -> None:
    process = started("normgeo table --help")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(120) == 141


# The user presses Ctrl-C when one of the first of hundreds of modules is looked for.
PRESS = """
import os, signal, sys

class Press:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "numpy.version":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Press)
"""


@pytest.mark.parametrize("way", ["module", "script"])
def test_an_interruption_of_the_imports_is_no_traceback(way: str, tmp_path: Path) -> None:
    (tmp_path / "normgeo").write_text(SCRIPT)
    (tmp_path / "sitecustomize.py").write_text(PRESS)
    words = ["-m", "normgeo"] if way == "module" else [str(tmp_path / "normgeo")]
    done = subprocess.run(
        [sys.executable, *words, "table"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=120,
        env=ENVIRONMENT | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
    )
    assert (done.returncode, done.stderr, done.stdout) == (130, b"Interrupted.\n", b"")
