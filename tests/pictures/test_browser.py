"""`find_browser`: BROWSER_PATH, then the PATH, then Playwright's own."""

from pathlib import Path

import pytest

from normgeo.pictures.style import browser
from normgeo.pictures.style.browser import find_browser


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No browser anywhere, and Playwright's downloads in `tmp_path/playwright`."""
    monkeypatch.delenv("BROWSER_PATH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "playwright"))
    monkeypatch.setattr(browser, "_INSTALLED", ())


def test_machine_without_browser_has_none() -> None:
    assert find_browser() is None


def test_browser_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tmp_path / "bin" / "chromium")
    chosen = executable(tmp_path / "my browser")
    monkeypatch.setenv("BROWSER_PATH", str(chosen))
    assert find_browser() == str(chosen)


def test_wrong_browser_path_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/nowhere/chromium")
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        find_browser()
    assert str(refused.value) == (
        "BROWSER_PATH must name an executable file; got '/nowhere/chromium'. "
        "Correct it, or unset it to use an installed browser."
    )


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_path_comes_before_playwright(name: str, tmp_path: Path) -> None:
    executable(tmp_path / "playwright" / "chromium-1200" / "chrome-linux64" / "chrome")
    on_path = executable(tmp_path / "bin" / name)
    assert find_browser() == str(on_path)


def test_newest_of_playwrights_downloads_is_taken(tmp_path: Path) -> None:
    for revision in ("999", "1200", "1100"):
        executable(tmp_path / "playwright" / f"chromium-{revision}" / "chrome-linux64" / "chrome")
    found = find_browser()
    assert found is not None
    assert Path(found).parts[-3] == "chromium-1200"


def test_file_that_cannot_be_run_is_no_browser(tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "chromium").chmod(0o644)
    assert find_browser() is None
