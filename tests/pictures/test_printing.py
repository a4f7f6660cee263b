"""A page as PDF: printed by a browser, or a sentence that says why not."""

import re
import subprocess
from typing import Any

import pytest

from normgeo.pictures.style import printing
from normgeo.pictures.style.export import BrowserMissing


def test_pdf_without_a_browser_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "find_browser", lambda: None)
    sentence = (
        r"^PDF is printed by a browser, and none was found: install Chromium or Google Chrome, set "
        r"BROWSER_PATH to the one you have, or choose HTML\.$"
    )
    with pytest.raises(BrowserMissing, match=sentence):
        printing.to_pdf("<p>")


@pytest.mark.parametrize("browser", ["/bin/false", "/bin/true", "/no/such/file"])
def test_browser_that_does_not_print_is_one_sentence(
    browser: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "find_browser", lambda: browser)
    sentence = (
        f"The browser {browser} does not print. Set BROWSER_PATH to another one, or choose HTML."
    )
    with pytest.raises(BrowserMissing, match=f"^{re.escape(sentence)}$"):
        printing.to_pdf("<p>")


def test_browser_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(command: list[str], **_: Any) -> None:
        raise subprocess.TimeoutExpired(command, 60)

    monkeypatch.setattr(printing, "find_browser", lambda: "/bin/true")
    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(BrowserMissing, match="does not print"):
        printing.to_pdf("<p>")
