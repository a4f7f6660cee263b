"""Provide a browser for the tests: `python -m tools.browser`.

It does nothing if there is one; otherwise it tries the system's package manager, then Playwright.
"""

import os
import shutil
import subprocess
import sys

from normgeo.pictures.style.browser import find_browser

APT = "apt-get update && apt-get install -y --no-install-recommends chromium"


def install_from_debian() -> None:
    """Install Debian's chromium, as root or with a sudo that needs no password."""
    if shutil.which("apt-get") is None:
        return
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        prefix = []
    elif shutil.which("sudo") and subprocess.call(["sudo", "-n", "true"]) == 0:
        prefix = ["sudo", "-n"]
    else:
        return
    subprocess.call([*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "sh", "-c", APT])


def install_from_playwright() -> None:
    subprocess.call([sys.executable, "-m", "playwright", "install", "chromium"])


def main() -> None:
    try:
        provide()
    except ValueError as wrong_browser_path:
        sys.exit(str(wrong_browser_path))


def provide() -> None:
    """Find or install a browser; exit with a sentence if neither works."""
    for install in (install_from_debian, install_from_playwright):
        if find_browser():
            return
        print("No browser found for the tests: installing one.", flush=True)
        install()
    if not find_browser():
        sys.exit(
            "The tests need a browser and none could be installed: install Chromium or Google "
            "Chrome, or set BROWSER_PATH to the one you have."
        )


if __name__ == "__main__":
    main()
