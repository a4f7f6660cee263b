"""Whether a browser can be kept in its sandbox here; where not, why."""

from __future__ import annotations

import logging
import os
import subprocess
from functools import cache
from tempfile import TemporaryDirectory

from normgeo.base.text import text

_PATIENCE = 30  # seconds for a browser to show an empty page


@cache
def in_sandbox(browser: str) -> bool:
    """Whether a browser starts in its sandbox, tried once a process; the log says why not.

    What it draws is our own, but a sandbox holds also when one of its many parts is at fault.
    Administrators and some containers have none.
    """
    reason = _refusal(browser)
    if reason:
        logging.getLogger(__name__).warning(
            "%s", text("The browser runs without its sandbox: {reason!s}", reason=reason)
        )
    return not reason


def _refusal(browser: str) -> str:
    """Why a browser does not start in its sandbox, "" where it does."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return text("root has none; run as another user.")
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            f"--user-data-dir={folder}",
            "--dump-dom",
            "about:blank",
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PATIENCE)
        except subprocess.CalledProcessError as error:
            said = [line for line in error.stderr.splitlines() if "sandbox" in line.lower()]
            ended = text("it ended with status {n}.", n=error.returncode)
            return str(said[-1])[-300:] if said else ended
        except (OSError, subprocess.SubprocessError) as error:
            return text("it does not start ({error!s}).", error=type(error).__name__)
    return ""
