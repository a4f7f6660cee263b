"""Predict whether each statement holds, one at a time, in the order of the paper."""

from __future__ import annotations

import streamlit as st

from normgeo.base.text import text
from normgeo.claims import VERDICTS, Audited
from normgeo.tables.audit import WORDS, remarks
from normgeo.ui.teaching import predict

PAGE = "audit"
_PLACE = "_claim_asked"


def ask(audited: list[Audited]) -> list[Audited]:
    """Draw a statement and ask for its verdict; return the statements predicted so far."""
    made = predict.made(PAGE)
    if audited:
        place = st.session_state.get(_PLACE, 0) % len(audited)
        one = audited[place]
        st.header(str(text(one.claim.statement)), anchor=False)
        st.caption(
            text(
                "Statement {n} of {all} · {source}",
                n=place + 1,
                all=len(audited),
                source=text(one.claim.source),
            )
        )
        predict.ask(
            PAGE,
            one.claim.key,
            text("It"),
            {verdict: str(WORDS[verdict]) for verdict in VERDICTS},
            lambda: one.verdict,
            lambda: _reason(one),
        )
        with st.container(horizontal=True, key="claim_steps", gap="small"):
            for name, label, step in (("back", text("Back"), -1), ("next", text("Next"), 1)):
                st.button(str(label), key=f"claim_{name}", on_click=_go, args=(place + step,))
    return [one for one in audited if one.claim.key in made]


def _go(place: int) -> None:
    st.session_state[_PLACE] = place


def _reason(one: Audited) -> str:
    words = text("It {verdict}.", verdict=WORDS[one.verdict])
    return " ".join([f"**{words}**", *remarks(one)])
