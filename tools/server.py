"""Serve a Streamlit script on a free port of this machine, for browser tests and benchmarks."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS_TO_START = 60


@contextmanager
def serving(script: Path, log: Path) -> Iterator[str]:
    """Yield the URL of a running `script`, without a slash at its end; its output goes to `log`.

    Raises:
        RuntimeError: the server did not start; the message holds what it said.

    """
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    options = [
        "--server.address=127.0.0.1",
        "--server.headless=true",
        "--server.fileWatcherType=none",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, *options],
            cwd=script.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            deadline = time.monotonic() + SECONDS_TO_START
            while not _is_healthy(url):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"The server did not start:\n{log.read_text('utf-8')}")
                time.sleep(0.05)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as response:
            return bool(response.status == 200)
    except OSError:
        return False
