"""The sandbox of the browser: used where it works, given up with a reason where it does not."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import choreographer
import pytest
from choreographer import errors

from normgeo.pictures.style import printing, static
from normgeo.pictures.style.sandbox import in_sandbox

Patch = pytest.MonkeyPatch
Log = pytest.LogCaptureFixture

SAYS = "The browser runs without its sandbox: "
BROWSERS = {
    "exit 0": [],
    "echo starting >&2; echo 'No usable sandbox! Update your kernel' >&2; echo bye >&2; exit 1": [
        SAYS + "No usable sandbox! Update your kernel"
    ],
    "exit 3": [SAYS + "it ended with status 3."],
    "no such file": [SAYS + "it does not start (FileNotFoundError)."],
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="browsers are scripts here")


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    in_sandbox.cache_clear()
    yield
    in_sandbox.cache_clear()


def script(path: Path, words: str) -> str:
    if words != "no such file":
        path.write_text(f"#!/bin/sh\n{words}\n")
        path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("words", BROWSERS)
def test_a_browser_that_refuses_its_sandbox_says_why_once(
    words: str, tmp_path: Path, monkeypatch: Patch, caplog: Log
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    browser = script(tmp_path / "browser", words)
    assert in_sandbox(browser) == in_sandbox(browser) == (not BROWSERS[words])
    assert caplog.messages == BROWSERS[words]


def test_root_has_no_sandbox(tmp_path: Path, monkeypatch: Patch, caplog: Log) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert not in_sandbox(script(tmp_path / "browser", "exit 0"))
    assert caplog.messages == [SAYS + "root has none; run as another user."]


@pytest.mark.parametrize("sandbox", [True, False])
def test_what_draws_and_what_prints_obey(sandbox: bool, tmp_path: Path, monkeypatch: Patch) -> None:
    """The browser is a script that writes down its words and ends."""
    browser, log = tmp_path / "browser", tmp_path / "words"
    script(browser, f'echo "$@" >> {log}; exit 1')
    for module in (static, printing):
        monkeypatch.setattr(module, "find_browser", lambda: str(browser))
        monkeypatch.setattr(module, "in_sandbox", lambda path: sandbox)

    def draw() -> Any:
        with static.browser() as drawn:
            return drawn

    for start in (draw, lambda: printing.to_pdf("<p>")):
        log.unlink(missing_ok=True)
        with pytest.raises(static.BrowserMissing):
            start()
        assert ("--no-sandbox" in log.read_text().split()) == (not sandbox)


@pytest.mark.parametrize("gone", ["BrowserClosedError", "BrowserFailedError", "ChannelClosedError"])
def test_a_browser_that_ends_at_any_moment_of_its_start_is_one_that_does_not_start(
    gone: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    async def ends(self: Any) -> None:
        raise getattr(errors, gone)

    monkeypatch.setattr(static, "find_browser", lambda: script(tmp_path / "browser", "exit 1"))
    monkeypatch.setattr(choreographer.Browser, "open", ends)
    with pytest.raises(static.BrowserMissing, match="does not start"), static.browser():
        pass
