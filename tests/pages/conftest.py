"""Pages without a browser: their content, found by key."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from normgeo.base.cache import Cache
from normgeo.base.refusal import Refusal
from normgeo.base.text import text
from normgeo.claims import CLAIMS, FAILS, HOLDS, HOLDS_IF, Audited, Finding, checked
from normgeo.claims.claim import number
from normgeo.pictures.style.chart import Chart
from normgeo.settings import Settings
from normgeo.ui.computing.server import SERVER, Server
from normgeo.ui.computing.task import Found
from tests.at_once import AtOnce

APP = Path(__file__).parents[2] / "app.py"


@dataclass(frozen=True)
class Shown:
    """A page and its content; `app` has the widgets by key."""

    app: AppTest

    def open(self, page: str, **query: str) -> None:
        """Follow a link, or the navigation if there is no query."""
        self.app.query_params.clear()
        for name, value in query.items():
            self.app.query_params[name] = value
        self.app.switch_page(f"pages/{page}.py").run()
        assert [error.message for error in self.app.exception] == []

    @property
    def query(self) -> dict[str, str]:
        """The query of the URL."""
        return {
            name: value if isinstance(value, str) else value[-1]
            for name, value in self.app.query_params.items()
        }

    @property
    def words(self) -> str:
        """All text outside figures and tables."""
        kinds = (self.app.title, self.app.markdown, self.app.caption, self.app.latex, self.app.info)
        return "\n".join(e.value for kind in kinds for e in kind)

    @property
    def warnings(self) -> list[str]:
        return [warning.value for warning in self.app.warning]

    def _element(self, kind: str, key: str) -> Any:
        (found,) = [e for e in self.app.get(kind) if e.proto.id.endswith(f"-{key}")]
        return found.proto

    def table(self, key: str = "table") -> dict[str, Any]:
        """The data of a verdict table, as sent to the browser."""
        content: dict[str, Any] = json.loads(self._element("bidi_component", key).json)
        return content

    def signs(self, key: str = "table") -> dict[str, str]:
        """The symbols of each row in one word, {"batch norm": "✓✗✓✓✓✗"}."""
        table = self.table(key)
        return {
            row["label"]: "".join(
                cell["faces"][table["negative"]]["symbol"] for cell in row["cells"]
            )
            for row in table["rows"]
        }

    @property
    def pressed(self) -> list[str]:
        """The selected cells."""
        rows = self.table()["rows"]
        return [cell["cell"] for row in rows for cell in row["cells"] if cell["selected"]]

    @property
    def figures(self) -> list[str]:
        """The names of the views on the page."""
        drawn = (e.proto for e in self.app.get("bidi_component"))
        keys = [one.id for one in drawn if one.component_name == "normgeo_figure"]
        return [key.rpartition("figure_")[2] for key in keys]

    def sent(self, name: str) -> dict[str, Any]:
        """The data sent to the browser with the figure of a view."""
        content: dict[str, Any] = json.loads(self._element("bidi_component", f"figure_{name}").json)
        return content

    def figure(self, name: str) -> dict[str, Any]:
        """The figure of a view, at its first frame."""
        sent = self.sent(name)
        figure: dict[str, Any] = json.loads(sent["figure"])
        if figure.get("frames"):
            frame = figure["frames"][sent["opened"][0]]
            for trace, patch in zip(frame.get("traces", ()), frame.get("data", ()), strict=True):
                figure["data"][trace] = over(figure["data"][trace], patch)
            figure["layout"] = over(figure["layout"], frame.get("layout", {}))
        return figure

    def alt(self, name: str) -> str:
        """A figure's description for screen readers."""
        place = f'id="alt_figure_{name}"'
        (found,) = [e.proto.body for e in self.app.get("html") if place in e.proto.body]
        return unescape(re.sub("<[^>]*>", "", found))

    def captions(self, name: str) -> str:
        """The text in a figure."""
        notes = self.figure(name)["layout"]["annotations"]
        return "\n".join(note["text"] for note in notes).replace("\N{NO-BREAK SPACE}", " ")


def over(original: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The original with a patch applied, like a player that applies a frame to a figure."""
    return original | {
        key: over(original.get(key) or {}, value)
        if isinstance(value, dict) and "bdata" not in value
        else value
        for key, value in patch.items()
    }


@pytest.fixture(scope="session", autouse=True)
def packages_read_once() -> Iterator[None]:
    """Otherwise each new session would read the metadata of every installed package."""
    with pytest.MonkeyPatch.context() as patch:
        scan = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(scope="session")
def kept() -> Cache[Any, Found]:
    """Results computed by all tests of this process that do not start with an empty cache."""
    return Cache(bytes=256e6)


@pytest.fixture
def pool() -> AtOnce:
    return AtOnce()


@pytest.fixture
def server(kept: Cache[Any, Found], pool: Any) -> Server:
    """The server that sessions of a test use instead of the process's own."""
    return Server(pool, kept, longest=-1.0)


@pytest.fixture
def nothing_kept(server: Server) -> Cache[Any, Found]:
    """All sessions of a process share results: this test starts with an empty cache."""
    server.kept = Cache(bytes=1e9)
    return server.kept


@pytest.fixture
def undrawn(server: Server) -> None:
    """Leaves the figures of all pages empty, for tests that look only at what is around them."""
    server.chart = lambda *_: Chart("{}", "", 0, (), ("",))  # type: ignore[method-assign]


@pytest.fixture
def uncomputed(nothing_kept: Cache[Any, Found], pool: AtOnce) -> None:
    """Refuse every computation, for tests that look at no picture and at none of its numbers."""
    pool.refuse = lambda compute: Refusal("It is not computed.")


@pytest.fixture
def keep_audit(server: Server) -> Callable[..., tuple[Audited, ...]]:
    """Caches an audit with the expected findings: computing one takes long."""

    def keep() -> tuple[Audited, ...]:
        found = {HOLDS: (True, True), HOLDS_IF: (False, True), FAILS: (False, True)}
        done = tuple(
            Audited(claim, Finding(*found[claim.expected], number(text("measured"), 0.25)))
            for claim in CLAIMS.values()
        )
        server.kept.keep((checked, Settings()), Found(done, stopped=False))
        return done

    return keep


@pytest.fixture
def shown(server: Server) -> Callable[..., Shown]:
    """Opens a page in a new session, `shown("invariance", cell="layer.case_rescaling")`."""

    def opener(page: str, **query: str) -> Shown:
        found = Shown(AppTest.from_file(APP, default_timeout=600))
        for opened in ("settings", "share"):
            found.app.session_state[opened] = True
        found.app.session_state[SERVER] = server
        found.open(page, **query)
        return found

    return opener
