"""The audit on a page: computed once a process, counted, filtered, and taken away as a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from normgeo.base.budget import MEGABYTE, Cost
from normgeo.base.text import text
from normgeo.claims import (
    CLAIMS,
    FAILS,
    FOLLOWS,
    HOLDS,
    HOLDS_IF,
    LATER,
    PAPER_SAYS,
    PRACTICE,
    Audited,
    checked,
)
from normgeo.pictures.style.printing import to_pdf
from normgeo.settings import Settings
from normgeo.tables import report
from normgeo.tables.audit import EXAMPLES_TOLD, audit_records, counts
from normgeo.tables.formats import render
from normgeo.ui import source, url
from normgeo.ui.computing.server import here
from normgeo.ui.computing.task import Task
from normgeo.ui.share.files import download, why_no_browser
from normgeo.ui.teaching import predict_claim

COST = Cost(bytes=64 * MEGABYTE, seconds=60.0)

VERDICTS = {"all": "", "holds": HOLDS, "holds_if": HOLDS_IF, "fails": FAILS}
KINDS = {
    "all": "",
    "paper": PAPER_SAYS,
    "follows": FOLLOWS,
    "later": LATER,
    "practice": PRACTICE,
}
KIND_LABELS = {
    "all": text("All kinds"),
    "paper": text("The paper says"),
    "follows": text("Follows"),
    "later": text("Later work"),
    "practice": text("Practice"),
}
LABELS = {
    "all": text("All {count}"),
    "holds": text(":material/check: {count} hold"),
    "holds_if": text("≈ {count} hold if …"),
    "fails": text(":material/close: {count} do not"),
}


def show(settings: Settings) -> bool:
    """Draw the counts, which filter, the report to take away, and the table.

    Returns:
        Whether there is an audit; it may have been stopped before its first claim.

    """
    task = Task(
        checked,
        Settings(),
        what=text("The audit"),
        cost=lambda settings: COST,
        words=text("Checked {done} of {steps} statements"),
    )
    found = here().found(task, "audit", again=text("Check all statements"))
    if found is None or not found.result:
        return False
    if found.stopped:
        done = text("Stopped: {n} of {all} are checked.", n=len(found.result), all=len(CLAIMS))
        st.info(done, icon=":material/info:")
    if settings.predict:
        _asked(found.result, settings)
    else:
        draw(found.result, settings)
    return True


def _asked(audited: tuple[Audited, ...], settings: Settings) -> None:
    """Draw a statement whose verdict is to be predicted, and those that are predicted."""
    _filter("kind", settings.kind, text("Kinds to show"), KIND_LABELS)
    predicted = predict_claim.ask(_of_kind(audited, settings))
    if predicted:
        _list("audit", report.table(predicted))


def _of_kind(audited: tuple[Audited, ...], settings: Settings) -> list[Audited]:
    return [one for one in audited if KINDS[settings.kind] in {"", one.claim.kind}]


def draw(audited: tuple[Audited, ...], settings: Settings) -> None:
    """Draw an audit that is there: where the paper is not exact, and then all of it."""
    _list("inexact", report.first(audited))
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        horizontal_alignment="distribute",
        key="audit_line",
    ):
        _filter("kind", settings.kind, text("Kinds to show"), KIND_LABELS)
        of_kind = _of_kind(audited, settings)
        found = {"": len(of_kind), **counts(of_kind)}
        labels = {name: text(LABELS[name], count=found[VERDICTS[name]]) for name in VERDICTS}
        _filter("verdict", settings.verdict, text("Verdicts to show"), labels)
        _exports(audited)
    chosen = [one for one in of_kind if VERDICTS[settings.verdict] in {"", one.verdict}]
    if wrong := [one.claim.key for one in audited if not one.as_expected]:
        st.error(text("Not the known verdicts: {keys}.", keys=", ".join(wrong)))
    st.caption(EXAMPLES_TOLD)
    _list("audit", report.table(chosen))


def _list(key: str, html: str) -> None:
    """Draw claims, with links to the pages that show them."""
    data = {"html": html, "along": urlencode(url.view_elsewhere())}
    _table(data=data, key=key, on_opened_change=_open(key))


def _filter(setting: str, value: str, label: str, labels: Mapping[str, str]) -> None:
    """Draw the choices of a setting that says which claims are listed."""

    def changed() -> None:
        url.change(**{setting: st.session_state[setting] or "all"})

    st.session_state[setting] = value
    st.segmented_control(
        str(label),
        list(labels),
        key=setting,
        on_change=changed,
        format_func=lambda name: str(text(labels[name])),
        label_visibility="collapsed",
    )


def _exports(audited: tuple[Audited, ...]) -> None:
    home = _home()
    files: dict[str, Callable[[], bytes]] = {
        "html": lambda: report.page(audited, home).encode(),
        "pdf": lambda: to_pdf(report.page(audited, home, unfolded=True)),
        "csv": partial(records, audited, "csv"),
        "json": partial(records, audited, "json"),
    }
    with st.container(horizontal=True, key="export_audit", width="content"):
        for suffix, content in files.items():
            missing = why_no_browser() if suffix == "pdf" else None
            download("audit", suffix.upper(), suffix, content, file="normgeo-audit", help=missing)


def records(audited: tuple[Audited, ...], format: str) -> bytes:
    """All claims in a format for programs, whatever is listed."""
    return render(audit_records(audited), format).encode()


def _home() -> str:
    """The address that the pages are under, "" where it is not known."""
    address = st.context.url or ""
    return address.split("?")[0].rpartition("/")[0] + "/" if address else ""


def _open(key: str) -> Callable[[], None]:
    """Go to the page that shows the claim whose link was clicked, in a list or another one."""

    def go() -> None:
        page, query = CLAIMS[st.session_state[key].opened].destination
        st.switch_page(f"pages/{page}.py", query_params={**url.view_elsewhere(), **query})

    return go


_table = st.components.v2.component(
    "normgeo_audit",
    html='<div class="audit"></div>',
    css=report.STYLE,
    js=source("audit.js"),
)
