"""The audit on a page: computed once a process, counted, filtered, and taken away as a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    in_order,
)
from normgeo.pictures.style.printing import to_pdf
from normgeo.settings import Settings
from normgeo.tables import report
from normgeo.tables.audit import EXAMPLES_TOLD, audit_records, audit_table, counts
from normgeo.tables.files import as_file
from normgeo.tables.formats import render
from normgeo.tables.report import PAPER
from normgeo.tables.verdicts import COLUMNS, ROWS, verdict_table
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
    "all": text("of all kinds"),
    "paper": text("of the paper"),
    "follows": text("that seem to follow"),
    "later": text("of later work"),
    "practice": text("of practice"),
}
LABELS = {
    "holds": text(":material/check: {count} hold"),
    "holds_if": text("≈ {count} hold if …"),
    "fails": text(":material/close: {count} do not"),
}


def show(settings: Settings) -> None:
    """Draw the counts, which filter, the statements as they are checked, and the report."""
    task = Task(
        checked,
        Settings(),
        what=text("The audit"),
        cost=lambda settings: COST,
        words=text("Checked {done} of {steps} statements"),
    )

    def so_far(given: Sequence[Audited]) -> None:
        _draw(in_order(given), settings)

    found = here().found(task, "audit", again=text("Check all statements"), draw=so_far)
    if found is None or not found.result:
        return
    if found.stopped:
        done = text("Stopped: {n} of {all} are checked.", n=len(found.result), all=len(CLAIMS))
        st.info(done, icon=":material/info:")
    _draw(found.result, settings)
    if not settings.predict:
        _exports(found.result)
    st.caption(
        text(
            "{paper} A computation decides each verdict, on digits or on seeded random numbers. "
            "{examples}",
            paper=text(PAPER),
            examples=EXAMPLES_TOLD,
        )
    )


def _draw(audited: tuple[Audited, ...], settings: Settings) -> None:
    """Draw what there is of an audit: all that is chosen, or what has been predicted."""
    of_kind = [one for one in audited if KINDS[settings.kind] in {"", one.claim.kind}]
    if settings.predict:
        _kinds(settings)
        if predicted := predict_claim.ask(of_kind):
            _list(predicted)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="audit_line"):
        _verdicts(settings, counts(of_kind))
        st.markdown(text("of {n} statements", n=len(of_kind)), width="content")
        _kinds(settings)
    chosen = [one for one in of_kind if VERDICTS[settings.verdict] in {"", one.verdict}]
    if wrong := [one.claim.key for one in audited if not one.as_expected]:
        st.error(text("Not the known verdicts: {keys}.", keys=", ".join(wrong)))
    _list(chosen, of=audited)


def _list(chosen: Sequence[Audited], of: Sequence[Audited] = ()) -> None:
    """Draw claims, with links to the pages that show them."""
    data = {"html": report.listed(chosen, of=of), "along": urlencode(url.view_elsewhere())}
    _claims(data=data, key="audit", on_opened_change=_open)


def _verdicts(settings: Settings, found: Mapping[str, int]) -> None:
    """Draw the counts of the verdicts; a click lists one, a second click all."""
    st.session_state["verdict"] = None if settings.verdict == "all" else settings.verdict
    st.segmented_control(
        str(text("Verdicts to show")),
        list(LABELS),
        key="verdict",
        on_change=_changed,
        args=("verdict",),
        format_func=lambda name: str(text(LABELS[name], count=found[VERDICTS[name]])),
        label_visibility="collapsed",
    )


def _kinds(settings: Settings) -> None:
    """Draw the choice of the kind of statements that are listed."""
    st.session_state["kind"] = settings.kind
    st.selectbox(
        str(text("Kinds to show")),
        list(KIND_LABELS),
        key="kind",
        on_change=_changed,
        args=("kind",),
        format_func=lambda name: str(text(KIND_LABELS[name])),
        label_visibility="collapsed",
        width=180,
    )


def _changed(setting: str) -> None:
    url.change(**{setting: st.session_state[setting] or "all"})


def _exports(audited: tuple[Audited, ...]) -> None:
    home = _home()
    files: dict[str, tuple[str, Callable[[], bytes]]] = {
        "html": ("HTML", lambda: report.page(audited, home).encode()),
        "pdf": ("PDF", lambda: to_pdf(report.page(audited, home, unfolded=True))),
        "tex": (text("LaTeX, with Table 1"), partial(latex, audited)),
        "csv": ("CSV", partial(records, audited, "csv")),
        "json": ("JSON", partial(records, audited, "json")),
    }
    with st.container(horizontal=True, key="export_audit"):
        for suffix, (label, content) in files.items():
            missing = why_no_browser() if suffix == "pdf" else None
            download("audit", label, suffix, content, file="normgeo-audit", help=missing)


def latex(audited: tuple[Audited, ...]) -> bytes:
    """Table 1, and all claims, as LaTeX."""
    table_1 = verdict_table(ROWS["paper"], COLUMNS["paper"])
    return as_file("tex", table_1, audit_table(audited))


def records(audited: tuple[Audited, ...], format: str) -> bytes:
    """All claims in a format for programs, whatever is listed."""
    return render(audit_records(audited), format).encode()


def _home() -> str:
    """The address that the pages are under, "" where it is not known."""
    address = st.context.url or ""
    return address.split("?")[0].rpartition("/")[0] + "/" if address else ""


def _open() -> None:
    """Go to the page that shows the claim whose link was clicked."""
    page, query = CLAIMS[st.session_state["audit"].opened].destination
    st.switch_page(f"pages/{page}.py", query_params={**url.view_elsewhere(), **query})


_claims = st.components.v2.component(
    "normgeo_audit",
    html='<div class="audit"></div>',
    css=report.STYLE,
    js=source("audit.js"),
)
