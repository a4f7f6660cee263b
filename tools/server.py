"""Serve the application on a free port of this machine, for browser tests and benchmarks."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS_TO_START = 60


@contextmanager
def serving(script: Path, log: Path) -> Iterator[str]:
    """Yield the URL of a running `script`, without a slash at its end; its output goes to `log`.

    Raises:
        RuntimeError: the server did not start; the message holds what it said.

    """
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.headless=true"]
    options = ["--server.address=127.0.0.1", "--server.fileWatcherType=none"]
    with answering([*command, *options], "--server.port=", script.parent, log) as url:
        yield url


@contextmanager
def answering(
    command: Sequence[str], port_option: str, folder: Path, log: Path, **options: Any
) -> Iterator[str]:
    """Yield the URL of what a command serves on a free port, once it answers.

    Args:
        command: what to run. port_option: what stands before the port, as in "--port=".
        folder: where to run it. log: the file for its output. options: of `subprocess.Popen`.

    Raises:
        RuntimeError: the server did not start; the message holds what it said.

    """
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, f"{port_option}{port}"],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            **options,
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
