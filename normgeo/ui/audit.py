"""The audit on a page: computed once a process, counted, filtered, and taken away as a report."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock

import streamlit as st

from normgeo.base.text import text
from normgeo.claims import CLAIMS, FAILS, HOLDS, HOLDS_IF, Audited, audit
from normgeo.settings import Settings
from normgeo.tables import report
from normgeo.tables.audit import audit_records, counts
from normgeo.tables.table import render
from normgeo.ui import url
from normgeo.ui.export import download, why_no_browser

_HERE = Path(__file__).parent
_KEPT: list[tuple[Audited, ...]] = []
# A lecture hall that opens the page computes once: the others wait.
_TURN = Lock()

VERDICTS = {"all": "", "holds": HOLDS, "holds_if": HOLDS_IF, "fails": FAILS}
LABELS = {
    "all": "All {count}",
    "holds": "✓ {count} hold",
    "holds_if": "≈ {count} hold if …",
    "fails": "✗ {count} do not",
}


def results() -> tuple[Audited, ...]:
    """Return all claims with their findings; the first time with a bar that tells how far it is.

    Raises:
        RuntimeError: a check that cannot be computed.

    """
    if not _KEPT:
        slot = st.empty()
        bar = slot.progress(0.0, text("Checking {all} statements", all=len(CLAIMS)))

        def tell(done: int, all: int) -> None:
            bar.progress(done / all, text("Checked {done} of {all} statements", done=done, all=all))

        with _TURN:
            if not _KEPT:
                _KEPT.append(tuple(audit(tell)))
        slot.empty()
    return _KEPT[0]


def draw(audited: tuple[Audited, ...], settings: Settings) -> None:
    """Draw the counts, which filter, the report to take away, and the table."""
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        horizontal_alignment="distribute",
        key="audit_line",
    ):
        _filter(audited, settings)
        _exports(audited)
    wanted = VERDICTS[settings.verdict]
    chosen = [one for one in audited if wanted in {"", one.finding.verdict}]
    if wrong := [one.claim.key for one in audited if not one.as_expected]:
        st.error(text("Not the known verdicts: {keys}.", keys=", ".join(wrong)))
    _table(data={"html": report.table(chosen)}, key="audit", on_opened_change=_open)


def _filter(audited: tuple[Audited, ...], settings: Settings) -> None:
    found = {"": len(audited), **counts(audited)}

    def changed() -> None:
        url.change(verdict=st.session_state["verdict"] or "all")

    st.session_state["verdict"] = settings.verdict
    st.segmented_control(
        text("Verdicts to show"),
        list(VERDICTS),
        key="verdict",
        on_change=changed,
        format_func=lambda name: text(LABELS[name], count=found[VERDICTS[name]]),
        label_visibility="collapsed",
    )


def _exports(audited: tuple[Audited, ...]) -> None:
    home = _home()
    files: dict[str, Callable[[], bytes]] = {
        "html": lambda: report.page(audited, home).encode(),
        "pdf": lambda: report.to_pdf(report.page(audited, home)),
        "csv": partial(_records, audited, "csv"),
        "json": partial(_records, audited, "json"),
    }
    with st.container(horizontal=True, key="export_audit", width="content"):
        for suffix, content in files.items():
            missing = why_no_browser() if suffix == "pdf" else None
            download("audit", suffix.upper(), suffix, content, help=missing)


def _records(audited: tuple[Audited, ...], format: str) -> bytes:
    return render(audit_records(audited), format).encode()


def _home() -> str:
    """Return the address that the pages are under, "" where it is not known."""
    address = st.context.url or ""
    return address.split("?")[0].rpartition("/")[0] + "/" if address else ""


def _open() -> None:
    """Go to the page that shows the claim whose link was clicked."""
    page, query = CLAIMS[st.session_state["audit"].opened].destination
    st.switch_page(f"pages/{page}.py", query_params=query)


_table = st.components.v2.component(
    "normgeo_audit",
    html='<div class="audit"></div>',
    css=report.STYLE,
    js=(_HERE / "audit.js").read_text("utf-8"),
)
