"""Serve the application on a free port of this machine, for browser tests and benchmarks."""

import multiprocessing
import os
import runpy
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS_TO_START = 60
OPTIONS = ("--server.headless=true", "--server.fileWatcherType=none")


@contextmanager
def serving(script: Path, log: Path) -> Iterator[str]:
    """Yield the URL of a running `script`, without a trailing slash; its output goes to `log`.

    Raises:
        RuntimeError: the server did not start; the message contains its output.

    """
    command = [sys.executable, "-m", "streamlit", "run", str(script), *OPTIONS]
    with answering(command, "--server.port=", script.parent, log) as url:
        yield url


@contextmanager
def serving_anew(imported: Sequence[str], port: int, script: Path, log: Path) -> Iterator[str]:
    """Like `serving`, in a fork of a process that has already imported modules, if it can.

    Such a server starts quickly, since its libraries are loaded only once; with the same port as
    the previous server, the browser has its scripts cached.
    """
    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if forks else "spawn")
    if forks:
        context.set_forkserver_preload(["streamlit.web.cli", *imported])
    words = ["streamlit", "run", str(script), *OPTIONS, f"--server.port={port}"]
    process = context.Process(target=_serve, args=(words, script.parent, log))
    process.start()
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(url, process.is_alive, log)
        yield url
    finally:
        process.terminate()
        process.join(5)
        if process.is_alive():
            process.kill()
            process.join()


def _serve(words: Sequence[str], folder: Path, log: Path) -> None:
    """Run Streamlit in this process, with its output in a file."""
    with log.open("wb") as output:
        for printed in (sys.stdout, sys.stderr):
            os.dup2(output.fileno(), printed.fileno())
    os.chdir(folder)
    sys.argv = list(words)
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


@contextmanager
def answering(
    command: Sequence[str], port_option: str, folder: Path, log: Path, **options: Any
) -> Iterator[str]:
    """Yield the URL of a command that serves on a free port, once it answers.

    Args:
        command: to run. port_option: comes before the port, such as "--port=".
        folder: where to run it. log: the file for its output. options: of `subprocess.Popen`.

    Raises:
        RuntimeError: the server did not start; the message contains its output.

    """
    port = free_port()
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
            wait_until_healthy(url, lambda: process.poll() is None, log)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_healthy(url: str, is_alive: Callable[[], bool], log: Path) -> None:
    """Wait until a server answers.

    Raises:
        RuntimeError: it died, or takes more than a minute; the message contains its log.

    """
    deadline = time.monotonic() + SECONDS_TO_START
    while not _is_healthy(url):
        if not is_alive() or time.monotonic() > deadline:
            raise RuntimeError(f"The server did not start:\n{log.read_text('utf-8')}")
        time.sleep(0.05)


def _is_healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as response:
            return bool(response.status == 200)
    except OSError:
        return False
