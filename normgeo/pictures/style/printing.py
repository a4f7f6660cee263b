"""Tables as documents, and HTML pages as PDF, printed by a browser."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from normgeo.pictures.style.browser import find_browser
from normgeo.pictures.style.sandbox import in_sandbox
from normgeo.pictures.style.static import BrowserMissing
from normgeo.tables.files import FILES, as_file
from normgeo.tables.printed import page
from normgeo.tables.table import Table

# Every browser takes about 200 MB.
_TURN = Lock()
_PATIENCE = 60  # seconds for a browser to print


DOCUMENTS = ("pdf", *FILES)


def document(format: str, *tables: Table) -> bytes:
    """Return tables as a file: with their sentences to read, or the rows of one for programs.

    Args:
        format: one of DOCUMENTS. tables: of which the first one gives the file its title.

    Raises:
        BrowserMissing, ValueError: as `to_pdf`, for PDF.

    """
    return to_pdf(page(*tables)) if format == "pdf" else as_file(format, *tables)


def to_pdf(html: str) -> bytes:
    """Return a page as PDF, printed by a browser.

    Raises:
        BrowserMissing: no browser, or one that does not print.
        ValueError: `BROWSER_PATH` names no executable file.

    """
    browser = find_browser()
    if browser is None:
        raise BrowserMissing(
            "PDF is printed by a browser, and none was found: install Chromium or Google "
            "Chrome, set BROWSER_PATH to the one you have, or choose HTML."
        )
    with _TURN, TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(html, "utf-8")
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            *([] if in_sandbox(browser) else ["--no-sandbox"]),
            "--no-first-run",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/profile",
            f"--print-to-pdf={target}",
            source.as_uri(),
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE)
            return target.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise BrowserMissing(
                "The browser {path!s} does not print. Set BROWSER_PATH to another one, or "
                "choose HTML.",
                path=browser,
            ) from error
