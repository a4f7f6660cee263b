"""Where the browser is that static export and the browser tests drive."""

import os
import shutil
import sys
from pathlib import Path

from normgeo.base.refusal import Refusal

_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)

# macOS and Windows install browsers outside the PATH.
_INSTALLED = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "${PROGRAMFILES}/Google/Chrome/Application/chrome.exe",
    "${LOCALAPPDATA}/Google/Chrome/Application/chrome.exe",
    "${PROGRAMFILES(X86)}/Microsoft/Edge/Application/msedge.exe",
)

_PLAYWRIGHT = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    "chromium-*/chrome-win*/chrome.exe",
)


def find_browser() -> str | None:
    """Return the path of a Chromium browser, or None where there is none.

    Looks at `BROWSER_PATH`, then at the PATH, then at the usual places of macOS and Windows, then
    at Playwright's own downloads, the newest first.

    Raises:
        ValueError: `BROWSER_PATH` names no executable file.
    """
    named = os.environ.get("BROWSER_PATH")
    if named:
        found = shutil.which(named)
        if found is None:
            raise Refusal(
                "BROWSER_PATH must name an executable file; got {named!r}. "
                "Correct it, or unset it to use an installed browser.",
                named=named,
            )
        return found
    on_path = (shutil.which(name) for name in _NAMES)
    installed = (os.path.expandvars(path) for path in _INSTALLED)
    candidates = (*on_path, *map(shutil.which, installed), *_playwright_downloads())
    return next((path for path in candidates if path is not None), None)


def _playwright_downloads() -> list[str]:
    """Executables below Playwright's cache, newest revision first."""
    cache = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    home = Path.home()
    default = {
        "darwin": home / "Library" / "Caches",
        "win32": home / "AppData" / "Local",
    }.get(sys.platform, Path(os.environ.get("XDG_CACHE_HOME", home / ".cache")))
    folder = Path(cache) if cache else default / "ms-playwright"
    found = (path for pattern in _PLAYWRIGHT for path in folder.glob(pattern) if path.is_file())
    return [str(path) for path in sorted(found, key=_revision, reverse=True)]


def _revision(executable: Path) -> int:
    """The number in `chromium-1234`, the folder Playwright downloads to."""
    folder = next(part for part in executable.parts if part.startswith("chromium-"))
    number = folder.removeprefix("chromium-")
    return int(number) if number.isdecimal() else 0
