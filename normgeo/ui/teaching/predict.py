"""Predict, then reveal: a page's question, its answer, and the session's score.

With `predict=1` a page draws only known answers. Hidden ones are not sent: a page asks `known`
before it draws, and the server looks an answer up after the click that predicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import final

import streamlit as st

from normgeo.base.text import text
from normgeo.settings import Settings
from normgeo.ui import source, url

_MADE = "_predictions"
PAGES = "invariance", "learning_rate", "audit"
"""The pages that ask."""


@final
@dataclass(frozen=True)
class Prediction:
    """The user's prediction and the right answer."""

    said: str
    answer: str

    @property
    def right(self) -> bool:
        """Whether the prediction is right."""
        return self.said == self.answer


def made(page: str) -> dict[Hashable, Prediction]:
    """The session's predictions on a page, by the key that decides the answer."""
    every: dict[str, dict[Hashable, Prediction]] = st.session_state.setdefault(_MADE, {})
    return every.setdefault(page, {})


def known(page: str, settings: Settings, question: Hashable) -> Prediction | bool:
    """Whether an answer may be shown: its prediction, or True if nothing is hidden."""
    return made(page).get(question, False) if settings.predict else True


def ask(
    page: str,
    question: Hashable,
    words: str,
    options: Mapping[str, str],
    answer: Callable[[], str],
    reason: Callable[[], str],
) -> None:
    """Draw a question with a button for each option or, once predicted, the answer and its reason.

    Args:
        page: asks the question. question: the key that decides the answer. words: its words.
        options: labels by name. answer: looks up the name of the right one, which need not be
            among them. reason: sentences that begin with the answer.

    """
    prediction = made(page).get(question)
    with st.container(horizontal=True, vertical_alignment="center", key="question", gap="small"):
        if prediction is None:
            st.markdown(f"**{words}**", width="content")
            for name, label in options.items():
                st.button(
                    str(label),
                    key=f"predict_{name}",
                    on_click=_predict,
                    args=(page, question, name, answer),
                )
        elif prediction.right:
            st.success(text("Right: {reason}", reason=reason()), icon=":material/check:")
        else:
            said = options.get(prediction.said, prediction.said)
            told = text("You said: {said}. {reason}", said=said, reason=reason())
            st.info(told, icon=":material/lightbulb:")
        _score(page)


def _score(page: str) -> None:
    """Draw how many predictions were right, and the buttons that start anew and show everything."""
    found = made(page)
    right = sum(one.right for one in found.values())
    words = str(text("Score: {right} of {all}", right=right, all=len(found))) if found else ""
    _status(key="score", data={"words": words}, width="content")
    if found:
        st.button(str(text("Start anew")), key="predict_anew", on_click=found.clear)
    st.button(str(text("Show the answers")), key="predict_end", on_click=_end, type="tertiary")


_status = st.components.v2.component(
    "normgeo_score",
    html='<span role="status"></span>',
    css=source("teaching/predict.css"),
    js=source("teaching/predict.js"),
)
"""A score that screen readers announce when it changes, as its element exists before its words."""


def _predict(page: str, question: Hashable, said: str, answer: Callable[[], str]) -> None:
    made(page)[question] = Prediction(said, answer())


def _end() -> None:
    url.change(predict=0)


def button(page: str) -> None:
    """Draw the button that hides the answers of a page."""
    st.button(
        str(text("Predict, then reveal")),
        key="predict_begin",
        on_click=_begin,
        args=(page,),
        help=str(text("Hides the answers of this page until you have predicted them.")),
        width="stretch",
    )


def _begin(page: str) -> None:
    """Hide the answers of a page, and forget its predictions."""
    made(page).clear()
    st.session_state["teach"] = False
    url.change(predict=1)
